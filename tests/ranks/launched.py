"""This file is what launched ranks run; it is a file of its own, as processes that are spawned import it."""

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel


def train(rank=None, port=None):
    if port is None:
        from accelerate import Accelerator  # noqa: PLC0415 - spawned processes do without

        Accelerator(cpu=True)
    else:
        distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 8)).pow(2).mean()
        loss.backward()
        optimizer.step()
    distributed.destroy_process_group()
