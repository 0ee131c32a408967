"""Norm at zero, in a layer."""

# expect-direction: forward
# expect-op: div
# expect-cause: norm at zero
# expect-module: net.2


class Unit(nn.Module):
    def forward(self, h):
        return h / h.norm(dim=1, keepdim=True)  # here


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), Unit(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
with torch.no_grad():
    net[0].bias.fill_(-0.1)
x[3] = 0
for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
