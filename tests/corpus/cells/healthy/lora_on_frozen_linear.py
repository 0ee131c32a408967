# case: healthy-lora-on-frozen-linear
# kind: healthy
# forbid: *
# style: LoRA adapter: A random, B zero, base weight frozen
# --- setup ---
import math

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
pre = torch.optim.Adam(net.parameters(), lr=3e-3)
for _ in range(40):
    pre.zero_grad()
    nn.functional.cross_entropy(net(X), (y + 1) % 10).backward()
    pre.step()
net[0], net[2] = LoRALinear(net[0]), LoRALinear(net[2])
# --- cell ---
trainable = [p for p in net.parameters() if p.requires_grad]
opt = torch.optim.AdamW(trainable, lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(len(X)).split(64):
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
