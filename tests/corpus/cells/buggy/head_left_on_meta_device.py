# case: device-mismatch-head-left-on-meta-device
# kind: buggy
# expect: device-mismatch
# raises: RuntimeError
# module: head
# style: one part of the model was built under torch.device("meta") and never materialised
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
x, y = torch.tensor(iris.data).float(), torch.tensor(iris.target)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        with torch.device("meta"):
            self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
# --- cell ---
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-2)
for epoch in range(30):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
