# case: model-recreated-fresh-network-every-epoch-repaired
# kind: healthy
# forbid: *
# style: model and optimizer made inside the epoch loop by a factory function
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
train_set = TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target))


def build_network():
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
# --- cell ---
loader = DataLoader(train_set, batch_size=64, shuffle=True)
loss_function = nn.CrossEntropyLoss()
net = build_network()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(6):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = loss_function(net(images), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
