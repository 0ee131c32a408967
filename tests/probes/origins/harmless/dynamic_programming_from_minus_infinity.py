"""Dynamic programming from minus infinity."""

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

transition = nn.Parameter(torch.zeros(3, 3))
for step in range(3):
    opt.zero_grad()
    alpha = torch.tensor([0.0, float("-inf"), float("-inf")])
    for row in net(x):
        alpha = torch.logsumexp(alpha.unsqueeze(1) + transition, dim=0) + row
    loss = torch.logsumexp(alpha, dim=0)
    loss.backward()
    opt.step()
