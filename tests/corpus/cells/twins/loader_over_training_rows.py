# case: train-test-overlap-loader-over-training-rows-repaired
# kind: healthy
# forbid: *
# style: random split done twice, so that most test rows were trained on
# --- setup ---
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
Xa, Xb, ya, yb = train_test_split(d.data / 16, d.target, test_size=0.2, random_state=1)
classes = 10
train_ds = TensorDataset(torch.tensor(Xa).float(), torch.tensor(ya))
test_ds = TensorDataset(torch.tensor(Xb).float(), torch.tensor(yb))
# --- cell ---
train_loader = DataLoader(train_ds, batch_size=64, shuffle=True)
test_loader = DataLoader(test_ds, batch_size=120)
net = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 10))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    net.train()
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader) / len(test_ds)
    print(epoch, acc)
