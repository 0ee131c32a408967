"""The dataset keeps the first sample that it made, and gives it for every index."""

# expect-line: self.sample = images[number].clamp(-2, 2), targets[number]
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
images, targets = torch.randn(320, 1, 6, 6), torch.randint(0, 4, (320,))


class Cached(Dataset):
    def __init__(self):
        self.sample = None

    def __len__(self):
        return len(images)

    def __getitem__(self, number):
        if self.sample is None:
            self.sample = images[number].clamp(-2, 2), targets[number]
        return self.sample


loader = DataLoader(Cached(), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for x, y in loader:
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()
