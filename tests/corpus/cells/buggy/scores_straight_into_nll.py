# case: not-log-probabilities-scores-straight-into-nll
# kind: buggy
# expect: not-log-probabilities
# allow: loss-not-decreasing, lr-too-high, exploding-gradient, update-too-large
# line: return nn.NLLLoss()(self(x), y)
# style: lightning-like module with training_step, log_softmax forgotten
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(13, 16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, x):
        return self.layers(x)

    def training_step(self, batch):
        x, y = batch
        return nn.NLLLoss()(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)
# --- cell ---
module = Module()
optimizer = module.configure_optimizers()
for step in range(50):
    rows = torch.randint(0, 178, (40,))
    loss = module.training_step((X[rows], y[rows]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
