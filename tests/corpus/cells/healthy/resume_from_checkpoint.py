# case: healthy-resume-from-checkpoint
# kind: healthy
# forbid: *
# style: earlier cell trained and saved; this cell loads weights and optimizer state and goes on
# --- setup ---
import io

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=64, shuffle=True)


def build():
    net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    return net, torch.optim.Adam(net.parameters(), lr=2e-3)


def epoch(net, opt):
    for x, y in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    return loss.item()


model, adam = build()
first = epoch(model, adam)
disk = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": adam.state_dict()}, disk)
# --- cell ---
disk.seek(0)
checkpoint = torch.load(disk, weights_only=True)
model, adam = build()
model.load_state_dict(checkpoint["model"])
adam.load_state_dict(checkpoint["optimizer"])
for number in range(3):
    print(number, epoch(model, adam))
