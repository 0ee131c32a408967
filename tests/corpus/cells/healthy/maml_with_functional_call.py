# case: healthy-maml-with-functional-call
# kind: healthy
# forbid: *
# style: first-order and second-order inner step with torch.func.functional_call, sine tasks
# --- setup ---
import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))


def sample_task():
    phase, amplitude = torch.rand(()) * math.pi, 0.5 + torch.rand(())
    x = torch.rand(20, 1) * 6 - 3
    return x, amplitude * torch.sin(x + phase)
# --- cell ---
meta = torch.optim.Adam(net.parameters(), lr=5e-3)
curve = []
for step in range(60):
    meta_loss = 0.0
    for _ in range(4):
        x, y = sample_task()
        names, values = zip(*net.named_parameters())
        inner = nn.functional.mse_loss(functional_call(net, dict(zip(names, values)), (x[:10],)), y[:10])
        grads = torch.autograd.grad(inner, values, create_graph=True)
        fast = {n: v - 0.05 * g for n, v, g in zip(names, values, grads)}
        meta_loss = meta_loss + nn.functional.mse_loss(functional_call(net, fast, (x[10:],)), y[10:])
    meta.zero_grad()
    (meta_loss / 4).backward()
    meta.step()
    curve.append(meta_loss.item() / 4)
print(curve[0], curve[-1])
