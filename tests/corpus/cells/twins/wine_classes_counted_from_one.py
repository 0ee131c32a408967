# case: label-out-of-range-wine-classes-counted-from-one-repaired
# kind: healthy
# forbid: *
# style: dict batches, labels 1..3 from an external table
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)


class Task:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=5e-3)

    def step(self, batch):
        loss = nn.functional.cross_entropy(self.net(batch["x"]), batch["y"])
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()
# --- cell ---
task = Task()
for rows in torch.randperm(len(y)).split(30):
    print(task.step({"x": X[rows], "y": y[rows]}))
