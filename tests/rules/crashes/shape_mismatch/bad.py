import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: return self.fc(x.flatten(1))
# expect-module: model.fc
images, labels = torch.randn(32, 1, 8, 8), torch.randint(0, 4, (32,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 3 * 3, 4)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for _ in range(8):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
