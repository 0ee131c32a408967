"""This file is what the ranks of an accident run: the last one is killed in the middle of a step, or falls silent."""

import os
import signal
import sys
import time

import torch
from torch import nn
from torch.distributed import get_rank, init_process_group
from torch.nn.parallel import DistributedDataParallel

import torchmagic

RANK, KIND = int(os.environ["RANK"]), sys.argv[1]
AT = 12


def accident(step):
    if RANK == 0 or step != AT:
        return
    if KIND == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(2.5)  # the silence


def train():
    model = DistributedDataParallel(nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(AT + 2):
        time.sleep(0.1 if KIND == "killed" else 0)  # so that the disk has seen some steps
        accident(step)
        optimizer.zero_grad()
        loss = model(torch.randn(4, 8)).pow(2).mean()
        loss.backward()
        optimizer.step()


with torchmagic.watch(hang_after=0.8, level="basic") as run:
    init_process_group("gloo")
    assert get_rank() == RANK
    train()
