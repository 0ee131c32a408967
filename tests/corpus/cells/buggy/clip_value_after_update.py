# case: clip-ineffective-clip-value-after-update
# kind: buggy
# expect: clip-ineffective
# line: nn.utils.clip_grad_value_(self.model.parameters(), 0.1)
# style: Trainer with hooks on_before/on_after step; clip_grad_value_ runs in the wrong one
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y).float().unsqueeze(1)


class Loop:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def after_step(self):
        nn.utils.clip_grad_value_(self.model.parameters(), 0.1)

    def epoch(self):
        for idx in torch.randperm(len(X)).split(80):
            self.opt.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(X[idx]), y[idx])
            loss.backward()
            self.opt.step()
            self.after_step()
        return loss.item()
# --- cell ---
loop = Loop(nn.Sequential(nn.Linear(30, 10), nn.Tanh(), nn.Linear(10, 1)))
print([round(loop.epoch(), 4) for _ in range(6)])
