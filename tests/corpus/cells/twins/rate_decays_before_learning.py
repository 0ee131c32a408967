# case: plateau-rate-decays-before-learning-repaired
# kind: healthy
# forbid: *
# style: exponential decay of 0.5 per epoch stops the training after a few epochs
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=300, shuffle=True)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.8)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, 0.98)
for epoch in range(24):
    total = 0.0
    for x, y in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    decay.step()
    print(epoch, total / len(dl), opt.param_groups[0]["lr"])
