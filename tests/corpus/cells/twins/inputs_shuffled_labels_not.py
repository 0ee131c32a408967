# case: loss-not-decreasing-inputs-shuffled-labels-not-repaired
# kind: healthy
# forbid: *
# style: features permuted, labels forgotten; nothing to learn
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
order = torch.randperm(len(d.target))
images = torch.tensor(d.data / 16).float()[order]
labels = torch.tensor(d.target)[order]
dl = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    for x, y in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
