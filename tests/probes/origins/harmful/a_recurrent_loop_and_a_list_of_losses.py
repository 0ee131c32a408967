"""A recurrent loop and a list of losses."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

cell = nn.RNNCell(4, 8)
head = nn.Linear(8, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
seq = torch.randn(5, 16, 4)
for step in range(3):
    opt.zero_grad()
    h = torch.zeros(16, 8)
    losses = []
    for t in range(5):
        h = cell(seq[t], h)
        out = head(h)
        losses.append(torch.log(out.abs() * (t != 3)).mean())  # here
    loss = sum(losses) / len(losses)
    loss.backward()
    opt.step()
