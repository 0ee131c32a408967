"""A test set, without a loader, that was drawn from the training set; images, of which only a part is seen in training."""

# expect-line: score = (net(x_test).argmax(1) == y_test).float().mean()
import torch
from torch import nn

torch.manual_seed(0)
images, labels = torch.rand(640, 1, 8, 8), torch.randint(0, 3, (640,))
drawn = torch.randint(0, 640, (150,))
x_test, y_test = images[drawn], labels[drawn]
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for epoch in range(2):
    for i in range(0, 640, 64):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images[i : i + 64]), labels[i : i + 64]).backward()
        optimizer.step()
with torch.no_grad():
    score = (net(x_test).argmax(1) == y_test).float().mean()
