# case: exploding-gradient-deep-linear-stack-blows-up
# kind: buggy
# expect: exploding-gradient
# allow: lr-too-high, loss-not-decreasing, nonfinite-forward, nonfinite-gradient, update-too-large, dead-relu, uniform-prediction
# style: ten wide layers initialised with normal_(std=0.4), regression
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
dl = DataLoader(
    TensorDataset(torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)),
    batch_size=64, shuffle=True,
)
# --- cell ---
layers, width = [], 10
for _ in range(8):
    layers += [nn.Linear(width, 48), nn.ReLU()]
    width = 48
net = nn.Sequential(*layers, nn.Linear(width, 1))
for module in net:
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=0.4)
optimizer = torch.optim.SGD(net.parameters(), lr=2e-5)
for epoch in range(2):
    for inputs, target in dl:
        loss = nn.functional.mse_loss(net(inputs), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
