# case: healthy-discriminative-rates-and-clip
# kind: healthy
# forbid: *
# style: parameter groups with different rates, clip between backward and step, ReduceLROnPlateau
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)
base, head = nn.Sequential(nn.Linear(10, 32), nn.ReLU()), nn.Linear(32, 1)
# --- cell ---
opt = torch.optim.Adam([{"params": base.parameters(), "lr": 1e-3}, {"params": head.parameters(), "lr": 1e-2}])
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=2)
for epoch in range(10):
    running = 0.0
    for rows in torch.randperm(340).split(34):
        loss = nn.functional.mse_loss(head(base(X[rows])), y[rows])
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*base.parameters(), *head.parameters()], 1.0)
        opt.step()
        running += loss.item()
    with torch.no_grad():
        val = nn.functional.mse_loss(head(base(X[340:])), y[340:]).item()
    plateau.step(val)
    print(epoch, running / 10, val)
