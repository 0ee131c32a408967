"""A dataset that forgets its index: a loader in random order gives the same sample again and again."""

# expect-line: for xb, yb in loader:
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[0], self.y[0]


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
loader = DataLoader(Rows(torch.randn(512, 8), torch.randint(0, 3, (512,))), batch_size=32, shuffle=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
