# case: unregistered-parameter-blocks-appended-to-a-list-repaired
# kind: healthy
# forbid: *
# style: residual CNN, convolutions appended to a Python list in a loop
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images / 16).float()[:, None]
train_loader = DataLoader(TensorDataset(images, torch.tensor(digits.target)), batch_size=128, shuffle=True)


class ResCNN(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList()
        for _ in range(depth):
            self.blocks.append(nn.Conv2d(width, width, 3, padding=1))
        self.classify = nn.Linear(width * 16, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.classify(nn.functional.max_pool2d(x, 2).flatten(1))
# --- cell ---
net = ResCNN()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(2):
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
