"""A logarithm before the loop."""

# expect-direction: input
# expect-op: log
# expect-cause: log of zero

counts = torch.poisson(torch.rand(64, 1) * 2)
x = torch.randn(64, 4)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
yl = counts.log()  # here
for i in range(0, 64, 16):
    loss = F.mse_loss(net(x[i : i + 16]), yl[i : i + 16])
    opt.zero_grad()
    loss.backward()
    opt.step()
