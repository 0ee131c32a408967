# case: zero-grad-after-backward-diabetes-grads-set-to-none-early-repaired
# kind: healthy
# forbid: *
# style: regression, gradients cleared by hand with p.grad = None at the wrong place
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn, optim

torch.manual_seed(2)
features, target = load_diabetes(return_X_y=True)
features = torch.tensor(features * 20, dtype=torch.float32)
target = torch.tensor((target - target.mean()) / target.std(), dtype=torch.float32).reshape(-1, 1)
regressor = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
opt = optim.SGD(regressor.parameters(), lr=0.05, momentum=0.9)
# --- cell ---
for epoch in range(60):
    mse = (regressor(features) - target).square().mean()
    for weight in regressor.parameters():
        weight.grad = None
    mse.backward()
    opt.step()
print("mse", mse.item())
