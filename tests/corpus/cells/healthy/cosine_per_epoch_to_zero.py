# case: healthy-cosine-per-epoch-to-zero
# kind: healthy
# forbid: *
# style: CosineAnnealingLR stepped once per epoch down to zero
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
net = nn.Sequential(nn.Linear(13, 24), nn.Mish(), nn.Linear(24, 3))
# --- cell ---
epochs = 15
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
annealing = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
for epoch in range(epochs):
    for rows in torch.randperm(178).split(32):
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    annealing.step()
print(loss.item(), annealing.get_last_lr())
