# case: healthy-converged-model-continued
# kind: healthy
# forbid: *
# style: already converged model trained a little longer; the loss hardly moves
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
x = (x - x.mean(0)) / x.std(0)
t = torch.tensor(iris.target)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(400):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), t).backward()
    opt.step()
# --- cell ---
for group in opt.param_groups:
    group["lr"] = 1e-4
for step in range(60):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), t)
    loss.backward()
    opt.step()
print(loss.item(), (net(x).argmax(1) == t).float().mean().item())
