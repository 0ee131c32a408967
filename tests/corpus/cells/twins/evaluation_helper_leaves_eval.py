# case: eval-mode-training-evaluation-helper-leaves-eval-repaired
# kind: healthy
# forbid: *
# style: evaluate(model) helper without switching back, dropout MLP
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
shuffled = torch.randperm(len(X))
train_dl = DataLoader(TensorDataset(X[shuffled[:1400]], y[shuffled[:1400]]), batch_size=100, shuffle=True)
valid_dl = DataLoader(TensorDataset(X[shuffled[1400:]], y[shuffled[1400:]]), batch_size=100)
# --- cell ---
def evaluate(model):
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, t in valid_dl:
            hits += (model(x).argmax(1) == t).sum().item()
    return hits / len(valid_dl.dataset)


net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.4), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    net.train()
    for x, t in train_dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), t)
        loss.backward()
        opt.step()
    print(epoch, loss.item(), evaluate(net))
