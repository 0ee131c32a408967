# case: weight-decay-dominates-adamw-decay-of-twenty
# kind: buggy
# expect: weight-decay-dominates
# allow: loss-not-decreasing, plateau, uniform-prediction, update-too-large
# style: AdamW on diabetes, decoupled weight decay far too large for the learning rate
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X = torch.tensor(X * 21).float()
y = torch.tensor((y - y.mean()) / y.std()).float().view(-1, 1)
net = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))
start_norm = torch.cat([p.flatten() for p in net.parameters()]).norm().item()
# --- cell ---
adamw = torch.optim.AdamW([{"params": net.parameters(), "weight_decay": 500.0}], lr=1e-4)
for it in range(52):
    adamw.zero_grad()
    loss = (net(X) - y).pow(2).mean()
    loss.backward()
    adamw.step()
print(loss.item())
