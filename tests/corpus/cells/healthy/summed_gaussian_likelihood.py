# case: healthy-summed-gaussian-likelihood
# kind: healthy
# forbid: *
# style: negative log likelihood summed by hand over shuffled batches, the last of which is smaller
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
table = load_diabetes()
x = torch.tensor(table.data).float() * 20
y = torch.tensor(table.target).float()[:, None] / 25
# --- cell ---
net = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(40):
    for rows in torch.randperm(len(x)).split(62):
        likelihood = torch.distributions.Normal(net(x[rows]), 0.1).log_prob(y[rows]).sum()
        opt.zero_grad()
        (-likelihood).backward()
        opt.step()
