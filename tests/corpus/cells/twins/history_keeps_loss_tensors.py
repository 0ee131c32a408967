# case: retained-graph-leak-history-keeps-loss-tensors-repaired
# kind: healthy
# forbid: *
# style: metrics dict with the loss tensors themselves, plotted later
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=128, shuffle=True)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
# --- cell ---
history = {"loss": [], "acc": []}
for epoch in range(4):
    for x, t in dl:
        logits = net(x)
        loss = nn.functional.cross_entropy(logits, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["loss"].append(loss.detach())
        history["acc"].append((logits.argmax(1) == t).float().mean().item())
print(torch.stack(history["loss"]).mean().item())
