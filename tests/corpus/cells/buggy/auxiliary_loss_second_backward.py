# case: backward-twice-auxiliary-loss-second-backward
# kind: buggy
# expect: backward-twice
# raises: RuntimeError
# line: aux_loss.backward()
# style: deep supervision, main and auxiliary losses back-propagated one after another
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, Y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)


class TwoExits(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(64, 40), nn.ReLU())
        self.early = nn.Linear(40, 10)
        self.late = nn.Sequential(nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 10))

    def forward(self, x):
        h = self.stem(x)
        return self.late(h), self.early(h)
# --- cell ---
model = TwoExits()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for rows in torch.randperm(len(X)).repeat(3).split(100):
    opt.zero_grad()
    main, aux = model(X[rows])
    main_loss = nn.functional.cross_entropy(main, Y[rows])
    aux_loss = nn.functional.cross_entropy(aux, Y[rows])
    main_loss.backward()
    aux_loss.backward()
    opt.step()
