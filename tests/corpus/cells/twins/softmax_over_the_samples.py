# case: wrong-dim-softmax-softmax-over-the-samples-repaired
# kind: healthy
# forbid: *
# style: Sequential with nn.Softmax(dim=0), log taken by hand for nll
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
dl = DataLoader(TensorDataset(X, torch.tensor(y)), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(13, 20), nn.ReLU(), nn.Linear(20, 3), nn.Softmax(dim=1))
# --- cell ---
optim = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for xb, yb in dl:
        p = net(xb)
        loss = -torch.log(p[torch.arange(len(yb)), yb] + 1e-9).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
    print(epoch, loss.item())
