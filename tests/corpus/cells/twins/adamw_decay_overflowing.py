# case: weight-decay-dominates-adamw-decay-overflowing-repaired
# kind: healthy
# forbid: *
# style: AdamW on digits, decay meant per epoch given per step and divided by the learning rate
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16).float()
y = torch.tensor(y)
net = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))
start_norm = torch.cat([p.flatten() for p in net.parameters()]).norm().item()
# --- cell ---
adamw = torch.optim.AdamW([{"params": net.parameters(), "weight_decay": 0.01}], lr=5e-3)
for it in range(65):
    adamw.zero_grad()
    loss = nn.functional.cross_entropy(net(X), y)
    loss.backward()
    adamw.step()
print(loss.item())
