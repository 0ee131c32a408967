import torch
from torch import nn

torch.manual_seed(0)
real = torch.randn(512, 2) * 0.3 + 1
gen = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
dis = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizers = {"dis": torch.optim.Adam(dis.parameters(), lr=5e-3), "gen": torch.optim.Adam(gen.parameters(), lr=5e-3)}


def update(name, loss):  # one line with a backward for two losses
    optimizers[name].zero_grad()
    loss.backward()
    optimizers[name].step()


def bce(logits, value):
    return nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, value))


for _ in range(150):
    batch, fake = real[torch.randint(0, 512, (64,))], gen(torch.randn(64, 2))
    update("dis", bce(dis(batch), 1.0) + bce(dis(fake.detach()), 0.0))
    update("gen", bce(dis(fake), 1.0))
