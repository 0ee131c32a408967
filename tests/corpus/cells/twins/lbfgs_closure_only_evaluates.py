# case: backward-missing-lbfgs-closure-only-evaluates-repaired
# kind: healthy
# forbid: *
# style: LBFGS closure that returns the loss but never calls backward
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
A, b = load_diabetes(return_X_y=True)
A = torch.tensor(A, dtype=torch.float32) * 21
b = torch.tensor((b - b.mean()) / b.std(), dtype=torch.float32)
linear = nn.Linear(10, 1)
# --- cell ---
opt = torch.optim.LBFGS(linear.parameters(), lr=0.5, max_iter=5)


def closure():
    opt.zero_grad()
    residual = linear(A).squeeze(1) - b
    loss = residual.pow(2).mean()
    loss.backward()
    return loss


trace = []
for outer in range(8):
    trace.append(opt.step(closure).item())
print(trace)
