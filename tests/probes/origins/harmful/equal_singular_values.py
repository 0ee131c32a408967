"""Equal singular values."""

# expect-direction: backward
# expect-op: LinalgSvdBackward0
# expect-cause: singular values or eigenvalues that are equal

W = nn.Parameter(torch.eye(4))
opt = torch.optim.SGD([W], lr=0.1)
for _ in range(1):
    opt.zero_grad()
    u, s, v = torch.linalg.svd(W)  # here
    loss = (u[:, 0] * v[0]).sum() + s.sum()
    loss.backward()
    opt.step()
