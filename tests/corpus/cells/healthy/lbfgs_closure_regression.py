# case: healthy-lbfgs-closure-regression
# kind: healthy
# forbid: *
# style: LBFGS, closure, float32 ridge regression
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)
net = nn.Sequential(nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 1))
# --- cell ---
lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=8, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = nn.functional.mse_loss(net(X), y) + 1e-3 * sum(p.square().sum() for p in net.parameters())
    loss.backward()
    return loss


history = [lbfgs.step(closure).item() for _ in range(8)]
print(history)
