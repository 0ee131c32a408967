# case: unregistered-parameter-heads-in-a-plain-dict-repaired
# kind: healthy
# forbid: *
# style: multi-head model that keeps its heads in a dict
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
x = (x - x.mean(0)) / x.std(0)
targets = {"species": torch.tensor(iris.target), "is_first": torch.tensor((iris.target == 0).astype(int))}


class MultiHead(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 24), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(24, size) for name, size in sizes.items()})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}
# --- cell ---
model = MultiHead({"species": 3, "is_first": 2})
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(50):
    out = model(x)
    loss = sum(nn.functional.cross_entropy(out[k], targets[k]) for k in targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), len(list(model.parameters())))
