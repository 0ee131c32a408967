# case: empty-loader-filter-matches-no-row
# kind: buggy
# expect: empty-loader
# allow: backward-missing
# line: rare_loader = DataLoader(Subset(everything, rare), batch_size=16)
# style: Subset with indices of a class that does not exist
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
everything = TensorDataset((x - x.mean(0)) / x.std(0), torch.tensor(iris.target))
net = nn.Linear(4, 3)
# --- cell ---
rare = [i for i in range(150) if iris.target[i] == 3]
rare_loader = DataLoader(Subset(everything, rare), batch_size=16)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
count = 0
for epoch in range(5):
    for a, b in rare_loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        opt.step()
        count += 1
print(count, "updates")
