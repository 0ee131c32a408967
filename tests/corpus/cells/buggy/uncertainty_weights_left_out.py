# case: param-not-in-optimizer-uncertainty-weights-left-out
# kind: buggy
# expect: param-not-in-optimizer
# param: log_vars
# style: multi-task loss module with learnable weights, module not given to the optimizer
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)
features, alcohol = X[:, 1:], X[:, :1]


class UncertaintyLoss(nn.Module):
    def __init__(self, tasks=2):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(tasks))

    def forward(self, *losses):
        return sum(torch.exp(-s) * l + s for s, l in zip(self.log_vars, losses))


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.kind = nn.Linear(24, 3)
        self.strength = nn.Linear(24, 1)

    def forward(self, x):
        h = self.body(x)
        return self.kind(h), self.strength(h)
# --- cell ---
net, joint = TwoHeads(), UncertaintyLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    logits, strength = net(features)
    loss = joint(nn.functional.cross_entropy(logits, y), nn.functional.mse_loss(strength, alcohol))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item(), joint.log_vars.tolist())
