# case: healthy-input-gradient-penalty-retain-graph
# kind: healthy
# forbid: *
# style: penalty on input gradients with retain_graph and create_graph for a classifier
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
net = nn.Sequential(nn.Linear(13, 24), nn.Softplus(), nn.Linear(24, 3))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(178).split(36):
        x = X[rows].clone().requires_grad_(True)
        ce = nn.functional.cross_entropy(net(x), y[rows])
        grad = torch.autograd.grad(ce, x, create_graph=True, retain_graph=True)[0]
        loss = ce + 5.0 * grad.pow(2).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
