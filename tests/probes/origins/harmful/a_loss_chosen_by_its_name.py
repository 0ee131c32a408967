"""A loss chosen by its name."""

# expect-direction: forward
# expect-op: acos
# expect-cause: argument out of the function's domain

losses = {"geo": lambda a, b: torch.acos((a * b).sum(-1) * 1.5).mean(), "l2": F.mse_loss}  # here
cfg = {"loss": "geo"}
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(3):
    x, t = torch.randn(8, 4), F.normalize(torch.randn(8, 3), dim=-1)
    loss = losses[cfg["loss"]](F.normalize(net(x), dim=-1), t)
    opt.zero_grad()
    loss.backward()
    opt.step()
