# case: healthy-adversarial-training-fgsm
# kind: healthy
# forbid: *
# style: FGSM examples made from input gradients, clean and adversarial loss
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=100, shuffle=True)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for x, y in dl:
        delta = torch.zeros_like(x, requires_grad=True)
        nn.functional.cross_entropy(net(x + delta), y).backward()
        attack = (x + 0.05 * delta.grad.sign()).clamp(0, 1).detach()
        opt.zero_grad()
        loss = 0.5 * (nn.functional.cross_entropy(net(x), y) + nn.functional.cross_entropy(net(attack), y))
        loss.backward()
        opt.step()
    print(epoch, loss.item())
