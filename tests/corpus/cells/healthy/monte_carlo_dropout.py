# case: healthy-monte-carlo-dropout
# kind: healthy
# forbid: *
# style: training, then uncertainty by dropout left on: model in eval, dropout modules in train
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)
net = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 1))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    net.train()
    for rows in torch.randperm(342).split(38):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(X[rows]), y[rows])
        loss.backward()
        opt.step()

net.eval()
for module in net.modules():
    if isinstance(module, nn.Dropout):
        module.train()
with torch.no_grad():
    draws = torch.stack([net(X[342:]) for _ in range(30)])
print(loss.item(), draws.std(0).mean().item())
