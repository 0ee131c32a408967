# case: scheduler-not-stepped-plateau-reducer-never-told
# kind: buggy
# expect: scheduler-not-stepped
# line: self.reducer = ReduceLROnPlateau(self.opt, patience=1, factor=0.5)
# style: class attribute ReduceLROnPlateau that validate() forgets to inform
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
split = train_test_split(X * 21, (y - y.mean()) / y.std(), random_state=0)
xtr, xva, ytr, yva = (torch.tensor(s, dtype=torch.float32) for s in split)


class Study:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.reducer = ReduceLROnPlateau(self.opt, patience=1, factor=0.5)

    def fit_epoch(self):
        for rows in torch.randperm(len(xtr)).split(32):
            self.opt.zero_grad()
            nn.functional.mse_loss(self.net(xtr[rows]), ytr[rows]).backward()
            self.opt.step()

    @torch.no_grad()
    def validate(self):
        return nn.functional.mse_loss(self.net(xva), yva).item()
# --- cell ---
study = Study()
for epoch in range(6):
    study.fit_epoch()
    val = study.validate()
    print(epoch, val, study.opt.param_groups[0]["lr"])
