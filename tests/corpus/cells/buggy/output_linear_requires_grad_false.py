# case: frozen-output-layer-output-linear-requires-grad-false
# kind: buggy
# expect: frozen-output-layer
# allow: frozen-in-optimizer
# module: 4
# style: convolutional Sequential, requires_grad_(False) on the wrong index
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
bunch = load_digits()
imgs = torch.tensor(bunch.images / 16).float().unsqueeze(1)
loader = DataLoader(TensorDataset(imgs, torch.tensor(bunch.target)), batch_size=64, shuffle=True)
# --- cell ---
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 10))
net[-1].requires_grad_(False)
optimizer = torch.optim.RMSprop((p for p in net.parameters() if p.requires_grad), lr=2e-3)
for epoch in range(3):
    for image, label in loader:
        loss = nn.functional.cross_entropy(net(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
