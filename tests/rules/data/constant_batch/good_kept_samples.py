"""The dataset keeps each sample under its index."""

# sound
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
images, targets = torch.randn(320, 1, 6, 6), torch.randint(0, 4, (320,))


class Cached(Dataset):
    def __init__(self):
        self.samples = {}

    def __len__(self):
        return len(images)

    def __getitem__(self, number):
        if number not in self.samples:
            self.samples[number] = images[number].clamp(-2, 2), targets[number]
        return self.samples[number]


loader = DataLoader(Cached(), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for x, y in loader:
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()
