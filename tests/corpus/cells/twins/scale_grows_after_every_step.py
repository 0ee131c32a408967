# case: amp-overflow-skips-scale-grows-after-every-step-repaired
# kind: healthy
# forbid: *
# style: GradScaler with growth_interval=1 and a huge factor under float16 autocast
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8)
skipped = 0
for step in range(60):
    rows = torch.randint(0, len(x), (128,))
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
    before = net[0].weight.detach().clone()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    skipped += int(torch.equal(before, net[0].weight))
print(loss.item(), "skipped", skipped, "scale", scaler.get_scale())
