# case: healthy-one-cycle-per-batch
# kind: healthy
# forbid: *
# style: OneCycleLR with exact total_steps, SGD with momentum
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
dl = DataLoader(TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)), 32, shuffle=True)
net = nn.Sequential(nn.Linear(30, 24), nn.ReLU(), nn.Linear(24, 2))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
one_cycle = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=6 * len(dl))
for epoch in range(6):
    for x, t in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), t)
        loss.backward()
        opt.step()
        one_cycle.step()
    print(epoch, loss.item(), one_cycle.get_last_lr())
