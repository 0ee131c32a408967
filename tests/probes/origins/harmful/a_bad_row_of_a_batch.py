"""A bad row of a batch."""

# expect-direction: input
# expect-cause: data are not finite

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randint(0, 3, (64,)))
data.tensors[0][37, 2] = float("nan")
for xb, yb in torch.utils.data.DataLoader(data, batch_size=16):
    opt.zero_grad()
    loss = F.cross_entropy(net(xb), yb)  # here
    loss.backward()
    opt.step()
