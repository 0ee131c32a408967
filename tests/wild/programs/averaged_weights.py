"""Stochastic weight averaging with a cyclic schedule, batch statistics renewed at the end."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
y = torch.tensor(digits.target)
train = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=64, shuffle=True)
test = DataLoader(TensorDataset(x[1400:], y[1400:]), batch_size=128)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, bias=False),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1, bias=False),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(32, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
swa_model, swa_scheduler = AveragedModel(model), SWALR(optimizer, swa_lr=0.02, anneal_epochs=2)
for epoch in range(8):
    model.train()
    for images, labels in train:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()
    if epoch >= 5:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    model.eval()
    with torch.no_grad():
        losses = [criterion(model(images), labels).item() for images, labels in test]
update_bn(train, swa_model)
result = [*model.state_dict().values(), *swa_model.state_dict().values()]
