import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
images, labels = torch.randn(32, 1, 8, 8), torch.randint(0, 4, (32,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 4 * 4, 4)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

try:  # the user tries a size, and has an answer to its failure
    model(torch.randn(2, 1, 9, 9).flatten(1))
except RuntimeError as error:
    print("skipped:", error)

for _ in range(8):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
