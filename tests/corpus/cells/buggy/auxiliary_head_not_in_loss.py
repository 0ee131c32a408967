# case: unused-parameter-auxiliary-head-not-in-loss
# kind: buggy
# expect: unused-parameter
# module: aux
# style: model returns (main, aux) but the aux output is thrown away in every step
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
batches = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), 100, shuffle=True)


class GoogLeNetish(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(64, 40)
        self.high = nn.Linear(40, 40)
        self.aux = nn.Linear(40, 10)
        self.main = nn.Linear(40, 10)

    def forward(self, x):
        a = torch.relu(self.low(x))
        b = torch.relu(self.high(a))
        return self.main(b), self.aux(a)
# --- cell ---
model = GoogLeNetish()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)
for epoch in range(4):
    for x, y in batches:
        out, _ = model(x)
        loss = nn.functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
