# case: scheduler-step-frequency-step-lr-counts-batches
# kind: buggy
# expect: scheduler-step-frequency
# allow: lr-zero, update-too-small, loss-not-decreasing, params-unchanged
# line: decay.step()
# style: StepLR(step_size=5) meant for epochs, stepped after every batch
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
# --- cell ---
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
decay = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.1)
for epoch in range(4):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        decay.step()
    print(epoch, loss.item(), decay.get_last_lr())
