# case: train-mode-evaluation-validation-with-live-batchnorm
# kind: buggy
# expect: train-mode-evaluation
# line: val_loss += F.mse_loss(net(x), t).item()
# style: regression with BatchNorm, validation loop under no_grad but in train mode
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
full = TensorDataset(torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1))
train, val = random_split(full, [342, 100], generator=torch.Generator().manual_seed(0))
train_loader, val_loader = DataLoader(train, batch_size=38, shuffle=True), DataLoader(val, batch_size=25)
# --- cell ---
net = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    for x, t in train_loader:
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), t)
        loss.backward()
        optimizer.step()
    val_loss = 0.0
    with torch.no_grad():
        for x, t in val_loader:
            val_loss += F.mse_loss(net(x), t).item()
    print(epoch, loss.item(), val_loss / len(val_loader))
