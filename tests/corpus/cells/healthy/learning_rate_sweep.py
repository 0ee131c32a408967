# case: healthy-learning-rate-sweep
# kind: healthy
# forbid: *
# style: hyper-parameter sweep over learning rates and widths, nested function
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
# --- cell ---
def sweep():
    results = {}

    def run(lr, width):
        net = nn.Sequential(nn.Linear(13, width), nn.ReLU(), nn.Linear(width, 3))
        opt = torch.optim.Adam(net.parameters(), lr=lr)
        for _ in range(5):
            for rows in torch.randperm(178).split(40):
                opt.zero_grad()
                loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
                loss.backward()
                opt.step()
        return loss.item()

    for lr in (3e-3, 1e-2, 3e-2):
        for width in (16, 32):
            results[lr, width] = run(lr, width)
    return results


table = sweep()
print(min(table, key=table.get), table)
