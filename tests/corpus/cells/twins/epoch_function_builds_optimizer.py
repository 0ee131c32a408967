# case: optimizer-recreated-epoch-function-builds-optimizer-repaired
# kind: healthy
# forbid: *
# style: train_one_epoch(model, loader, lr) makes its own AdamW each time
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ds = load_digits()
loader = DataLoader(
    TensorDataset(torch.tensor(ds.data).float() / 16, torch.tensor(ds.target)), batch_size=60, shuffle=True
)


def train_one_epoch(model, loader, optimizer):
    running = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(loader)
# --- cell ---
classifier = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
optimizer = torch.optim.AdamW(classifier.parameters(), lr=2e-3)
for epoch in range(6):
    print(epoch, train_one_epoch(classifier, loader, optimizer))
