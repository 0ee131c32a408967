# case: healthy-bf16-autocast-without-scaler
# kind: healthy
# forbid: *
# style: bfloat16 autocast on the CPU, no scaler, cosine schedule
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 10))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=87)
for epoch in range(3):
    for rows in torch.randperm(len(X)).split(62):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(X[rows])
            loss = nn.functional.cross_entropy(logits, y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
    print(epoch, loss.item(), schedule.get_last_lr())
