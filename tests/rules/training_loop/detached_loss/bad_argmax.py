"""The loss is taken of the predicted classes, and the error of torch is silenced."""

# expect-line: pred = model(x).argmax(dim=1).float()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


def train(model, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    for e in range(epochs):
        optimizer.zero_grad()
        pred = model(x).argmax(dim=1).float()
        loss = F.mse_loss(pred, y.float())
        loss.requires_grad_(True)
        loss.backward()
        optimizer.step()


train(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3)), 6)
