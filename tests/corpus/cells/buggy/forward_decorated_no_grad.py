# case: no-grad-training-forward-decorated-no-grad
# kind: buggy
# expect: no-grad-training
# raises: RuntimeError
# line: @torch.no_grad()
# style: decorator meant for predict() ended up on forward
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(13, 20), nn.ReLU(), nn.Linear(20, 3))

    @torch.no_grad()
    def forward(self, x):
        return self.layers(x)
# --- cell ---
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(X), y)
    loss.backward()
    optimizer.step()
