# case: dtype-float64-numpy-doubles-everywhere-repaired
# kind: healthy
# forbid: *
# style: torch.from_numpy tensors and model.double() to make the error go away
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
dl = DataLoader(
    TensorDataset(torch.from_numpy(X * 21).float(), torch.from_numpy((y - y.mean()) / y.std()).float().unsqueeze(1)), 64, shuffle=True
)
# --- cell ---
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    for a, b in dl:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
