"""Pixels of 0 to 255, most of them dark, in a convolution of a model with two branches."""

# expect-module: net.conv
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)
        self.conv = nn.Conv2d(1, 4, 3)

    def forward(self, image):
        return self.head(torch.tanh(self.conv(image)).mean((2, 3)))


torch.manual_seed(0)
images = torch.randint(1, 256, (256, 1, 12, 12)) * (torch.rand(256, 1, 12, 12) < 0.2)
loader = DataLoader(TensorDataset(images.float(), torch.randint(0, 3, (256,))), batch_size=16, shuffle=True)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(image=xb), yb).backward()
    optimizer.step()
