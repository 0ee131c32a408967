from contextlib import nullcontext

import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import torchmagic

dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(96, 8), torch.randn(96, 1))
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
model = DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)

with torchmagic.watch():
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            for part in range(2):
                with nullcontext() if part == 2 else model.no_sync():
                    half = slice(4 * part, 4 * part + 4)
                    loss = nn.functional.mse_loss(model(x[half]), y[half]) / 2
                    loss.backward()
            optimizer.step()

dist.destroy_process_group()
