# case: no-grad-evaluation-missing-validation-records-graph
# kind: buggy
# expect: no-grad-evaluation-missing
# line: val_losses.append(F.cross_entropy(net(x), t).item())
# style: eval() but no no_grad in the validation loop
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
order = torch.randperm(len(X))
train = DataLoader(TensorDataset(X[order[:1400]], y[order[:1400]]), batch_size=70, shuffle=True)
valid = DataLoader(TensorDataset(X[order[1400:]], y[order[1400:]]), batch_size=100)
net = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Dropout(0.1), nn.Linear(40, 10))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    net.train()
    for x, t in train:
        opt.zero_grad()
        loss = F.cross_entropy(net(x), t)
        loss.backward()
        opt.step()
    net.eval()
    val_losses = []
    for x, t in valid:
        val_losses.append(F.cross_entropy(net(x), t).item())
    print(epoch, sum(val_losses) / len(val_losses))
