# case: duplicated-worker-seed-generator-copied-into-workers-repaired
# kind: healthy
# forbid: *
# style: augmentation with a numpy Generator held by the Dataset, two workers
# --- setup ---
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
d = load_digits()


class Augmented(Dataset):
    def __init__(self, images, labels, seed=0):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        clean = torch.tensor(self.images[i]).float()
        return clean + 0.2 * torch.randn(64), int(self.labels[i])
# --- cell ---
loader = DataLoader(Augmented(d.data[:800] / 16, d.target[:800]), batch_size=64, shuffle=True, num_workers=2)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
