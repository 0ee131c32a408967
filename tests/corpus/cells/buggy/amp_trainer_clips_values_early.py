# case: clip-before-unscale-amp-trainer-clips-values-early
# kind: buggy
# expect: clip-before-unscale
# line: nn.utils.clip_grad_value_(self.net.parameters(), 0.5)
# style: mixed-precision Trainer with clip_grad_value_, unscale_ comes after it
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)


class AmpTrainer:
    def __init__(self, net):
        self.net = net
        self.optim = torch.optim.Adam(net.parameters(), lr=3e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def step(self, inputs, target):
        self.optim.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = self.net(inputs)
        loss = nn.functional.cross_entropy(logits.float(), target)
        self.scaler.scale(loss).backward()
        nn.utils.clip_grad_value_(self.net.parameters(), 0.5)
        self.scaler.unscale_(self.optim)
        self.scaler.step(self.optim)
        self.scaler.update()
        return loss.item()
# --- cell ---
amp = AmpTrainer(nn.Sequential(nn.Linear(30, 32), nn.GELU(), nn.Linear(32, 2)))
for epoch in range(4):
    for rows in torch.randperm(569).split(64):
        value = amp.step(X[rows], y[rows])
    print(epoch, value)
