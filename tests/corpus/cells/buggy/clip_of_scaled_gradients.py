# case: clip-before-unscale-clip-of-scaled-gradients
# kind: buggy
# expect: clip-before-unscale
# line: torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
# style: GradScaler on the CPU with autocast, clip between scale().backward() and step
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=128, shuffle=True)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
    print(epoch, loss.item())
