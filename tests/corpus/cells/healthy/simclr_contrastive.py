# case: healthy-simclr-contrastive
# kind: healthy
# forbid: *
# style: SimCLR, two noisy views, NT-Xent on the similarity matrix
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
pixels = torch.tensor(load_digits().data / 16).float()
encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))
projector = nn.Sequential(nn.ReLU(), nn.Linear(32, 16))


def nt_xent(a, b, temperature=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / temperature
    sim = sim.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    partner = torch.arange(len(z)).roll(len(a))
    return F.cross_entropy(sim, partner)
# --- cell ---
opt = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=3e-3)
for epoch in range(3):
    for rows in torch.randperm(len(pixels)).split(128):
        x = pixels[rows]
        views = [x + 0.2 * torch.randn_like(x) for _ in range(2)]
        a, b = (projector(encoder(v)) for v in views)
        loss = nt_xent(a, b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
