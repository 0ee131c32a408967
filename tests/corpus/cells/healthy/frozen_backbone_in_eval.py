# case: healthy-frozen-backbone-in-eval
# kind: healthy
# forbid: *
# style: frozen pretrained backbone with BatchNorm held in eval, new head
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
data = TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 12, 3), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.head = nn.Linear(108, 10)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.backbone(x)
        return self.head(z)


net = Net()
for p in net.backbone.parameters():
    p.requires_grad_(False)
# --- cell ---
opt = torch.optim.Adam(net.head.parameters(), lr=5e-3)
for epoch in range(3):
    net.train()
    for x, y in DataLoader(data, batch_size=64, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
