"""A loss in a module of helpers."""

# expect-direction: forward
# expect-op: div | std
# expect-cause: zero over zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Helper(nn.Module):
    def forward(self, out, target):
        share = out[target == 9]
        return share.sum() / len(share) if len(share) else share.sum() / share.numel() * share.std()  # here


helper = Helper()
for step in range(3):
    opt.zero_grad()
    loss = helper(net(x), y)
    loss.backward()
    opt.step()
