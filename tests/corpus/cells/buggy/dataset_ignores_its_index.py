# case: constant-batch-dataset-ignores-its-index
# kind: buggy
# expect: constant-batch
# allow: dead-relu, overfitting, unshuffled-loader, batch-mixing, uniform-prediction
# line: for image, label in loader
# style: Dataset whose __getitem__ always returns the first sample (a leftover of debugging)
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
digits = load_digits()


class Digits(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, index):
        index = 0
        return torch.tensor(digits.data[index] / 16).float(), int(digits.target[index])


loader = DataLoader(Digits(), batch_size=32, shuffle=True, drop_last=True)
# --- cell ---
net = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))
opt = torch.optim.Adam(net.parameters(), lr=6e-3)
for epoch in range(2):
    for image, label in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(image), label)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
