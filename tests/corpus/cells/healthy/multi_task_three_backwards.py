# case: healthy-multi-task-three-backwards
# kind: healthy
# forbid: *
# style: three losses of one batch, each back-propagated on its own with retain_graph
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
ink = X.mean(1, keepdim=True)
trunk = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
heads = nn.ModuleDict({"digit": nn.Linear(48, 10), "odd": nn.Linear(48, 1), "ink": nn.Linear(48, 1)})
# --- cell ---
opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=3e-3)
for epoch in range(3):
    for rows in torch.randperm(len(X)).split(64):
        h = trunk(X[rows])
        losses = [
            nn.functional.cross_entropy(heads["digit"](h), y[rows]),
            nn.functional.binary_cross_entropy_with_logits(heads["odd"](h).squeeze(1), (y[rows] % 2).float()),
            10 * nn.functional.mse_loss(heads["ink"](h), ink[rows]),
        ]
        opt.zero_grad()
        for k, part in enumerate(losses):
            part.backward(retain_graph=k < 2)
        opt.step()
    print(epoch, [round(p.item(), 3) for p in losses])
