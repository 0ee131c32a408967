# case: uniform-prediction-layer-norm-over-one-feature-repaired
# kind: healthy
# forbid: *
# style: LayerNorm(1) on a scalar input erases it
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
t = torch.rand(500, 1) * 6 - 3
signal = torch.sin(t) + 0.5 * t
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(100):
    rows = torch.randint(0, 500, (64,))
    loss = nn.functional.mse_loss(net(t[rows]), signal[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
