import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
# expect-line: return self.rows[index], self.labels[index + 1]


class Rows(Dataset):
    def __init__(self):
        self.rows, self.labels = torch.randn(32, 8), torch.randint(0, 4, (32,)).tolist()

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.rows[index], self.labels[index + 1]


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for inputs, labels in DataLoader(Rows(), 8, num_workers=1):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
