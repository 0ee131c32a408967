"""A pretrained row that is not finite."""

# expect-direction: input
# expect-cause: unknown

vec = torch.randn(20, 4)
vec[13] = float("nan")
emb = nn.Embedding.from_pretrained(vec, freeze=False)
net = nn.Sequential(emb, nn.Flatten(), nn.Linear(12, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    x, y = torch.randint(0, 13, (8, 3)), torch.randint(0, 2, (8,))
    if i == 4:
        x[0, 0] = 13
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()  # here
    opt.step()
