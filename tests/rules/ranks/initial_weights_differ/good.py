import torch
from torch import distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import torchmagic

dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(96, 8), torch.randn(96, 1))
torch.manual_seed(dist.get_rank())
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
model = net
for tensor in model.state_dict().values():
    dist.broadcast(tensor, src=0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)

with torchmagic.watch():
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            for p in model.parameters():
                dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
                p.grad /= dist.get_world_size()
            optimizer.step()

dist.destroy_process_group()
