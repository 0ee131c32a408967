# case: retained-graph-leak-moving-average-of-live-losses-repaired
# kind: healthy
# forbid: *
# style: exponential moving average of the loss kept as a graph tensor
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)
model = nn.Sequential(nn.Linear(13, 32), nn.ELU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# --- cell ---
smooth = torch.tensor(1.1)
for step in range(60):
    batch = torch.randint(0, len(X), (32,))
    loss = nn.functional.cross_entropy(model(X[batch]), y[batch])
    opt.zero_grad()
    loss.backward()
    opt.step()
    smooth = 0.9 * smooth + 0.1 * loss.detach()
    if step % 20 == 0:
        print(step, float(smooth.detach()))
