# case: healthy-alternating-task-heads
# kind: healthy
# forbid: *
# style: one head per step in turn; each head rests in the other steps
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
radius, rest = X[:, :1], X[:, 1:]
trunk = nn.Sequential(nn.Linear(29, 24), nn.ReLU())
heads = nn.ModuleList([nn.Linear(24, 2), nn.Linear(24, 1)])
# --- cell ---
opt = torch.optim.Adam(list(trunk.parameters()) + list(heads.parameters()), lr=5e-3)
log = {0: [], 1: []}
for step in range(120):
    rows = torch.randint(0, 569, (48,))
    task = step % 2
    out = heads[task](trunk(rest[rows]))
    loss = nn.functional.cross_entropy(out, y[rows]) if task == 0 else nn.functional.mse_loss(out, radius[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    log[task].append(loss.item())
print({k: (v[0], v[-1]) for k, v in log.items()})
