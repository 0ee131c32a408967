# case: nonfinite-forward-poisson-rate-goes-negative-repaired
# kind: healthy
# forbid: *
# style: Poisson likelihood written by hand, rate without positivity
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
covariates = torch.randn(400, 3)
counts_all = torch.poisson(torch.exp(0.5 * covariates[:, 0] + 0.5))
rate_net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1), nn.Flatten(0))
# --- cell ---
optimizer = torch.optim.Adam(rate_net.parameters(), lr=5e-3)
for step in range(150):
    pick = torch.randint(0, 400, (64,))
    counts = counts_all[pick]
    rate = nn.functional.softplus(rate_net(covariates[pick])) + 1e-4
    loss = (rate - counts * torch.log(rate)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
