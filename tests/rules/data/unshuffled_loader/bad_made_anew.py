"""A function makes the dataset and its loader anew for each epoch, one class after the other."""

# expect-line: return DataLoader(ConcatDataset(parts), batch_size=40)
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset

torch.manual_seed(0)
centres = torch.randn(10, 12)
samples = [centres[label] + 0.3 * torch.randn(160, 12) for label in range(10)]


class OfOneClass(Dataset):
    def __init__(self, label):
        self.label = label

    def __len__(self):
        return len(samples[self.label])

    def __getitem__(self, index):
        return {"x": samples[self.label][index], "label": self.label}


def train_loader():
    parts = [OfOneClass(label) for label in range(10)]
    return DataLoader(ConcatDataset(parts), batch_size=40)


net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for epoch in range(4):
    for batch in train_loader():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(batch["x"]), batch["label"]).backward()
        optimizer.step()
