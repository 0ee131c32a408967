# case: weight-decay-dominates-sgd-decay-eats-the-weights-repaired
# kind: healthy
# forbid: *
# style: SGD with weight_decay=8 taken over from another library's alpha
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=100, shuffle=True)
mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
norm_before = sum(p.norm() ** 2 for p in mlp.parameters()).sqrt().item()
# --- cell ---
optimizer = torch.optim.SGD(mlp.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for epoch in range(4):
    for pixels, digit in dl:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(mlp(pixels), digit)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
