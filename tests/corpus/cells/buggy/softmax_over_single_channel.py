# case: uniform-prediction-softmax-over-single-channel
# kind: buggy
# expect: uniform-prediction
# allow: dead-relu, loss-not-decreasing, plateau, wrong-dim-softmax, constant-batch
# style: image attention map normalised over the only channel, so every pixel becomes one
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)), 90, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(72, 10)

    def forward(self, img):
        img = torch.softmax(4 * img, dim=1)
        return self.fc(nn.functional.max_pool2d(torch.relu(self.conv(img)), 2).flatten(1))
# --- cell ---
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(3):
    for img, label in dl:
        loss = nn.functional.cross_entropy(net(img), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
