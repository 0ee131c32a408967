# case: zero-grad-after-backward-train-step-wipes-gradients
# kind: buggy
# expect: zero-grad-after-backward
# allow: params-unchanged, loss-not-decreasing, backward-missing, plateau, uniform-prediction
# line: model.zero_grad()
# style: train_step function, convolutional net on digits, model.zero_grad between backward and step
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
Y = torch.tensor(digits.target)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(72, 10))
optim = torch.optim.AdamW(model.parameters(), lr=3e-3)


def train_step(images, targets):
    loss = nn.functional.cross_entropy(model(images), targets)
    loss.backward()
    model.zero_grad()
    optim.step()
    return loss.detach()
# --- cell ---
order = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
values = [train_step(X[i], Y[i]).item() for i in order.split(64)]
print(values[0], values[-1])
