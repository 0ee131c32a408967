# case: unshuffled-loader-iris-in-file-order-repaired
# kind: healthy
# forbid: *
# style: iris rows sorted by species, loader without shuffle
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
iris = load_iris()
x, t = torch.tensor(iris.data).float(), torch.tensor(iris.target)
x = (x - x.mean(0)) / x.std(0)
# --- cell ---
loader = DataLoader(TensorDataset(x, t), batch_size=10, shuffle=True)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for a, b in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
