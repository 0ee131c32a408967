"""A GAN whose steps are functions."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

G = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1), nn.Sigmoid())
optG, optD = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())


def d_step(real):
    optD.zero_grad()
    fake = G(torch.randn(16, 4)).detach()
    loss = -(torch.log(D(real)) + torch.log(1 - D(fake))).mean()
    loss.backward()
    optD.step()
    return loss.item()


def g_step():
    optG.zero_grad()
    score = D(G(torch.randn(16, 4)))
    loss = torch.log(score - score).mean()  # here
    loss.backward()
    optG.step()


for step in range(3):
    d_step(torch.randn(16, 2))
    g_step()
