# case: unscaled-step-second-optimizer-skips-the-scaler-repaired
# kind: healthy
# forbid: *
# style: two optimizers and one GradScaler; only the first goes through scaler.step
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
body, head = nn.Sequential(nn.Linear(13, 24), nn.ReLU()), nn.Linear(24, 3)
# --- cell ---
body_opt = torch.optim.Adam(body.parameters(), lr=3e-3)
head_opt = torch.optim.Adam(head.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for epoch in range(8):
    for rows in torch.randperm(178).split(45):
        body_opt.zero_grad()
        head_opt.zero_grad()
        loss = nn.functional.cross_entropy(head(body(X[rows])), y[rows])
        scaler.scale(loss).backward()
        scaler.step(body_opt)
        scaler.step(head_opt)
        scaler.update()
    print(epoch, loss.item())
