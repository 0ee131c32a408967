"""Two graphs of a GAN."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

G = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optG = torch.optim.SGD(G.parameters(), lr=0.01)
optD = torch.optim.SGD(D.parameters(), lr=0.01)
real = torch.randn(16, 2)
for step in range(4):
    z = torch.randn(16, 4)
    fake = G(z)
    optD.zero_grad()
    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    d_loss.backward()
    optD.step()
    optG.zero_grad()
    score = D(fake)
    spread = (score - score.detach()).pow(2).sum(1).sqrt()  # here
    g_loss = F.softplus(-score).mean() + spread.mean()
    g_loss.backward()
    optG.step()
