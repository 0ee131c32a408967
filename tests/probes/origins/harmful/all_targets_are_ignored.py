"""All targets are ignored."""

# expect-direction: forward
# expect-op: nll_loss_forward | cross_entropy
# expect-cause: all targets are ignored

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
t = torch.full((16,), -100)
for step in range(3):
    opt.zero_grad()
    out = net(x)
    loss = F.cross_entropy(out, t)  # here
    loss.backward()
    opt.step()
