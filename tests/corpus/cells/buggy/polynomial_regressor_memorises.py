# case: overfitting-polynomial-regressor-memorises
# kind: buggy
# expect: overfitting
# style: regression trainer with validate method; validation error rises after a few epochs
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)


class Fit:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        self.loss = nn.MSELoss()

    def epoch(self):
        self.net.train()
        for idx in torch.randperm(80).split(20):
            self.opt.zero_grad()
            value = self.loss(self.net(X[idx]), y[idx])
            value.backward()
            self.opt.step()
        return value.item()

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        return self.loss(self.net(X[80:]), y[80:]).item()
# --- cell ---
fit = Fit()
curve = []
for epoch in range(50):
    train_loss = fit.epoch()
    curve.append(fit.validate())
print(train_loss, min(curve), curve[-1])
