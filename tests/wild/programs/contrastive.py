"""SimCLR-like training: two noisy views of each digit, a projection head, the other samples as negatives."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16
loader = DataLoader(TensorDataset(images), batch_size=128, shuffle=True, drop_last=True)
backbone = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 64))
projector = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))
optimizer = torch.optim.AdamW([*backbone.parameters(), *projector.parameters()], lr=1e-3, weight_decay=1e-4)


def augment(x):
    return x * (torch.rand_like(x) > 0.2) + 0.05 * torch.randn_like(x)


for epoch in range(8):
    for (x,) in loader:
        views = torch.cat([augment(x), augment(x)])
        z = F.normalize(projector(backbone(views)), dim=1)
        similarity = z @ z.T / 0.2
        similarity = similarity.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
        targets = torch.arange(len(z)).roll(len(x))
        loss = F.cross_entropy(similarity, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
backbone.eval()
with torch.no_grad():
    features = backbone(images)
probe = nn.Linear(64, 10)
probe_optimizer = torch.optim.Adam(probe.parameters(), lr=1e-2)
for _ in range(60):
    loss = F.cross_entropy(probe(features), torch.tensor(digits.target))
    probe_optimizer.zero_grad()
    loss.backward()
    probe_optimizer.step()
result = [*backbone.state_dict().values(), *projector.state_dict().values(), *probe.state_dict().values()]
