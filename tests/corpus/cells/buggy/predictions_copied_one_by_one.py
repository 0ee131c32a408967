# case: sync-in-loop-predictions-copied-one-by-one
# kind: buggy
# expect: sync-in-loop
# line: record.append(out[j, 0].item())
# style: predictions copied to a Python list element by element for a plot
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)
net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
record = []
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(60):
    rows = torch.randint(0, 442, (32,))
    out = net(X[rows])
    loss = nn.functional.mse_loss(out, y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    for j in range(32):
        record.append(out[j, 0].item())
print(len(record))
