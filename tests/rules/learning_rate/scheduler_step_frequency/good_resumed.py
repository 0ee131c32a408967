"""A job that is killed four times goes on with model, optimizer and schedule as they were."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 8)
y = x @ torch.randn(8, 1) + 0.1 * torch.randn(64, 1)
disk = {}


def lease(first, last):
    net = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=120)
    parts = {"net": net, "optimizer": optimizer, "schedule": schedule}
    for name, part in parts.items():
        if name in disk:
            part.load_state_dict(disk[name])
    for _ in range(first, last):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        schedule.step()
    disk.update({name: part.state_dict() for name, part in parts.items()})


for begin in range(0, 120, 24):
    lease(begin, begin + 24)
