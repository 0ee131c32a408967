# case: module-created-in-forward-linear-layer-built-in-forward-repaired
# kind: healthy
# forbid: *
# style: CNN that avoids computing its flatten size by building the layer in forward
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
x_all = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
dl = DataLoader(TensorDataset(x_all, torch.tensor(digits.target)), batch_size=90, shuffle=True)


class LazyCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.pool = nn.MaxPool2d(2)
        self.project = nn.Linear(54, 10)

    def forward(self, x):
        flat = self.pool(torch.relu(self.conv(x))).flatten(1)
        return self.project(flat)
# --- cell ---
cnn = LazyCNN()
optimizer = torch.optim.Adam(cnn.parameters(), lr=6e-3)
for epoch in range(2):
    for img, digit in dl:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(cnn(img), digit)
        loss.backward()
        optimizer.step()
    print(loss.item())
