"""This file is a training on ranks that knows nothing of torchmagic; its arguments say what is wrong, and where.

``same`` gives all ranks the same batches; ``fails 1`` and ``fails all`` end with an exception at step 12.
"""

import sys

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

distributed.init_process_group("gloo")
WHAT, WHERE, RANK = sys.argv[1], sys.argv[-1], distributed.get_rank()
torch.manual_seed(0)
X = torch.randn(480, 20)
DATA = TensorDataset(X, (X.sum(1) > 0).long())
loader = DataLoader(DATA, batch_size=16, sampler=None if WHAT == "same" else DistributedSampler(DATA))
model = DistributedDataParallel(nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step, (x, y) in enumerate(loader):
    wrong = WHAT == "fails" and step == 12 and WHERE in ("all", str(RANK))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[:, :7] if wrong else x), y)
    loss.backward()
    optimizer.step()
distributed.destroy_process_group()
