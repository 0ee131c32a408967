# case: scheduler-step-frequency-one-cycle-stepped-per-epoch-repaired
# kind: healthy
# forbid: *
# style: OneCycleLR with steps_per_epoch, step() placed outside of the batch loop
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
dl = DataLoader(TensorDataset(X, torch.tensor(y).float()), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(30, 24), nn.ReLU(), nn.Linear(24, 1), nn.Flatten(0))
# --- cell ---
epochs = 8
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
cycle = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=epochs, steps_per_epoch=len(dl))
for epoch in range(epochs):
    for inputs, label in dl:
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(net(inputs), label)
        loss.backward()
        opt.step()
        cycle.step()
    print(epoch, cycle.get_last_lr()[0], loss.item())
