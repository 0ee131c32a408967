# case: healthy-imbalanced-with-class-weights
# kind: healthy
# forbid: *
# style: 95:5 imbalance, weighted sampler and class weights
# --- setup ---
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
X = torch.randn(1200, 6)
y = (X[:, 0] + 0.5 * X[:, 1] > 1.9).long()
share = y.float().mean().item()
sample_weight = torch.where(y == 1, 0.3 / share, 0.7 / (1 - share))
loader = DataLoader(TensorDataset(X, y), 60, sampler=WeightedRandomSampler(sample_weight, 1200, replacement=True))
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
# --- cell ---
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    for a, b in loader:
        opt.zero_grad()
        loss = criterion(net(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
