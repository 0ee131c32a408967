# case: healthy-amp-scaler-cpu-float16
# kind: healthy
# forbid: *
# style: float16 autocast and GradScaler on the CPU, unscale before clipping
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=128, shuffle=True)
net = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10))
# --- cell ---
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14)
for epoch in range(4):
    for x, y in loader:
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        scaler.step(opt)
        scaler.update()
    print(epoch, loss.item(), scaler.get_scale())
