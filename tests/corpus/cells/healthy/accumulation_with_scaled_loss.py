# case: healthy-accumulation-with-scaled-loss
# kind: healthy
# forbid: *
# style: gradient accumulation, loss / k, remainder batch handled
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=25, shuffle=True)
net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 10))
# --- cell ---
k = 4
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
net.train()
for epoch in range(3):
    opt.zero_grad()
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(net(x), y) / k
        loss.backward()
        if (i + 1) % k == 0 or i + 1 == len(loader):
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    print(epoch, loss.item() * k)
