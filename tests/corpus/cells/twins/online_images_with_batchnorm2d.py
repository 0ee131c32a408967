# case: batchnorm-batch-one-online-images-with-batchnorm2d-repaired
# kind: healthy
# forbid: *
# style: batch_size=1 training of a convolutional net with BatchNorm2d
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
imgs = TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1)[:250], torch.tensor(d.target)[:250])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(72, 10)

    def forward(self, x):
        return self.fc(nn.functional.max_pool2d(torch.relu(self.bn(self.conv(x))), 2).flatten(1))
# --- cell ---
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
stream = DataLoader(imgs, batch_size=16, shuffle=True)
for epoch in range(8):
    for image, digit in stream:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(image), digit)
        loss.backward()
        opt.step()
