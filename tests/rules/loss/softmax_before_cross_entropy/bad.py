"""The model ends in a softmax, and the loss takes another."""

# expect-module: net.4
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(256, 8), torch.randint(0, 5, (256,))
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5), nn.Identity(), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(net(xb), yb)
    loss.backward()
    optimizer.step()
