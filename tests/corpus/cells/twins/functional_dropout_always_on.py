# case: functional-dropout-in-eval-functional-dropout-always-on-repaired
# kind: healthy
# forbid: *
# style: F.dropout without training=self.training, proper eval() and no_grad
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)
perm = torch.randperm(len(X))
tr, va = perm[:400], perm[400:]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(30, 24)
        self.b = nn.Linear(24, 2)

    def forward(self, x):
        x = F.relu(self.a(x))
        x = F.dropout(x, 0.3, training=self.training)
        return self.b(x)
# --- cell ---
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    net.train()
    for idx in tr[torch.randperm(400)].split(50):
        loss = F.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(X[i]).argmax(1) == y[i]).sum().item() for i in va.split(50)) / len(va)
    print(epoch, acc)
