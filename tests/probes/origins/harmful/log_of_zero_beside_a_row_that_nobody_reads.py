"""Log of zero beside a row that nobody reads."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

vec = torch.randn(20, 4)
vec[13] = float("nan")
net = nn.Sequential(nn.Embedding.from_pretrained(vec, freeze=False), nn.Flatten(), nn.Linear(12, 2), nn.Softmax(1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    x, y = torch.randint(0, 13, (8, 3)), torch.randint(0, 2, (8,))
    p = net(x) * (i != 4)
    opt.zero_grad()
    F.nll_loss(torch.log(p), y).backward()  # here
    opt.step()
