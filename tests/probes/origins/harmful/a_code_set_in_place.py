"""A code book of which the loop sets one code to a point, whose distance to it is then zero."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero
# expect-parameter: codes

encoder, codes = nn.Linear(4, 2), nn.Parameter(torch.randn(5, 2))
opt = torch.optim.SGD([*encoder.parameters(), codes], lr=0.1)
for step in range(3):
    z = encoder(torch.randn(8, 4))
    if step == 1:
        with torch.no_grad():
            codes[0] = z[0]
    far = ((z[:, None] - codes[None]) ** 2).sum(-1).sqrt()  # here
    loss = far.min(1).values.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
