import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))


def train(model):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    parts = [torch.optim.lr_scheduler.LinearLR(opt, total_iters=3), torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)]
    both = torch.optim.lr_scheduler.ChainedScheduler(parts)
    swa = torch.optim.swa_utils.SWALR(opt, swa_lr=0.05)  # its turn never comes in this run
    for epoch in range(8):
        for idx in torch.randperm(256).split(32):
            opt.zero_grad()
            nn.functional.cross_entropy(model(x[idx]), y[idx]).backward()
            opt.step()
        if epoch > 20:
            swa.step()
        else:
            both.step()


train(model)
