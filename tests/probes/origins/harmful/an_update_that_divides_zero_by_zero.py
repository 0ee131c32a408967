"""An update that divides zero by zero."""

# expect-direction: update
# expect-op: div
# expect-cause: zero over zero
# expect-parameter: net.0.weight

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Own(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["square"] = state.get("square", torch.zeros_like(p)) * 0.9 + p.grad.pow(2)
                p.sub_(group["lr"] * p.grad / state["square"].sqrt())  # here


with torch.no_grad():
    net[0].weight[:, 2] = 0
x[:, 2] = 0
opt = Own(net.parameters(), 0.001)
for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
