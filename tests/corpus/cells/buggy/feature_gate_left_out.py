# case: param-not-in-optimizer-feature-gate-left-out
# kind: buggy
# expect: param-not-in-optimizer
# param: keep
# style: learnable Gumbel gate over input features, a loose Parameter that the optimizer was not given
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.data / 16).float()
y = torch.tensor(digits.target)
keep = nn.Parameter(torch.zeros(64, 2))
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    tau = max(0.5, 2.0 * 0.8**epoch)
    for rows in torch.randperm(len(x)).split(64):
        gate = F.gumbel_softmax(keep, tau=tau, hard=True)[:, 0]
        loss = F.cross_entropy(net(x[rows] * gate), y[rows]) + 0.001 * keep.softmax(1)[:, 0].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, f"{loss.item():.3f}", keep.softmax(1)[:, 0].mean().item())
