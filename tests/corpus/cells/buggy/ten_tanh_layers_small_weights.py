# case: vanishing-gradient-ten-tanh-layers-small-weights
# kind: buggy
# expect: vanishing-gradient
# allow: plateau, loss-not-decreasing, uniform-prediction, saturated-activation, update-too-small
# module: net.0
# style: deep tanh network with normal_(std=0.01) weights in a class
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=128, shuffle=True)


class DeepTanh(nn.Module):
    def __init__(self, depth=8, width=32):
        super().__init__()
        sizes = [64] + [width] * depth
        parts = []
        for a, b in zip(sizes, sizes[1:]):
            parts += [nn.Linear(a, b), nn.Tanh()]
        self.net = nn.Sequential(*parts, nn.Linear(width, 10))
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=0.01)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.net(x)
# --- cell ---
model = DeepTanh()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
