# expect-line: num_warmup_steps=500,
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
from functools import partial


def linear(step, *, num_warmup_steps, num_training_steps):
    if step < num_warmup_steps:
        return step / num_warmup_steps
    return max(0.0, (num_training_steps - step) / (num_training_steps - num_warmup_steps))


def schedule(opt, **settings):
    return torch.optim.lr_scheduler.LambdaLR(opt, partial(linear, **settings))


sched = schedule(
    opt,
    num_warmup_steps=500,
    num_training_steps=64,
)
for epoch in range(8):
    for idx in torch.randperm(256).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
        sched.step()
