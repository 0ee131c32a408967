# case: scheduler-before-optimizer-lr-scheduler-called-at-epoch-top-repaired
# kind: healthy
# forbid: *
# style: ExponentialLR stepped at the top of each epoch
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
# --- cell ---
optimizer = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
lr_schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
for epoch in range(5):
    for x, y in dl:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    lr_schedule.step()
    print(epoch, lr_schedule.get_last_lr()[0], loss.item())
