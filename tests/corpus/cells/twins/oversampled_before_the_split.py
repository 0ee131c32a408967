# case: train-test-overlap-oversampled-before-the-split-repaired
# kind: healthy
# forbid: *
# style: rare class duplicated before the split, every test row is a copy
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
order = torch.randperm(len(X))
train, test = order[:450], order[450:]
# --- cell ---
train_set = TensorDataset(X[train], y[train])
test_set = TensorDataset(X[test], y[test])
net = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for a, b in DataLoader(train_set, batch_size=100, shuffle=True):
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    wrong = sum((net(a).argmax(1) != b).sum().item() for a, b in DataLoader(test_set, batch_size=94))
print("test errors", wrong)
