"""Square root at zero, inside a layer."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero
# expect-module: net.2


class Length(nn.Module):
    def forward(self, h):
        return h.pow(2).sum(1, keepdim=True).sqrt()  # here


net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), Length(), nn.Linear(1, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
with torch.no_grad():
    net[0].bias.zero_()
x[3] = 0
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
