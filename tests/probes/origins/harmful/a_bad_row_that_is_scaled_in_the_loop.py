"""A bad row that is scaled in the loop."""

# expect-direction: input
# expect-cause: data are not finite

X = torch.randn(64, 4)
X[33, 1] = float("nan")
Y = torch.randint(0, 2, (64,))
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for xb, yb in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), 16):
    z = net(xb * 2)  # here
    loss = F.cross_entropy(z, yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
