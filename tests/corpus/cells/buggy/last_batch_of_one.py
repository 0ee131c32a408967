# case: batchnorm-batch-one-last-batch-of-one
# kind: buggy
# expect: batchnorm-batch-one
# raises: ValueError
# module: 1
# style: BatchNorm1d and a loader whose last batch has a single row (drop_last missing)
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
data = TensorDataset((x - x.mean(0)) / x.std(0), torch.tensor(iris.target))
train, _ = torch.utils.data.random_split(data, [129, 21])
# --- cell ---
loader = DataLoader(train, batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    for a, b in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
