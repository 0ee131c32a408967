"""This file is a program with slow spots, of which a profile and pyinstrument both say what each takes.

It is a process of its own: of what another test compiled, no function would get ranges, and no line its time.
"""

import json
import sys
import time
from pathlib import Path

import pyinstrument
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import torchmagic

STEPS = 6


class Rows(Dataset):
    def __len__(self):
        return 4 * STEPS

    def __getitem__(self, index):
        time.sleep(0.015)
        return torch.ones(8), index % 3


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(_, rows):
        return rows.clone()

    @staticmethod
    def backward(_, gradient):
        time.sleep(0.03)
        return gradient.clone()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, rows):
        hidden = torch.relu(self.body(rows))
        time.sleep(0.04)
        return self.head(Slow.apply(hidden))


def prepare():
    total = 0
    for number in range(1000):
        total += sum(range(number, number + 3000))
    return total


def train():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for rows, targets in DataLoader(Rows(), batch_size=4):
        prepare()
        loss = nn.functional.cross_entropy(net(rows), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def sampled(sampler):
    """Return the seconds of each line and of each function of this file, as pyinstrument saw them."""
    lines, functions = {}, {}
    todo = [sampler.last_session.root_frame()]
    while todo:
        frame = todo.pop()
        todo += frame.children
        if frame.file_path == __file__:
            functions[frame.function] = functions.get(frame.function, 0.0) + frame.time
            for attribute, seconds in frame.attributes.items():
                if attribute.startswith("l"):
                    lines[int(attribute[1:])] = lines.get(int(attribute[1:]), 0.0) + seconds
    return {"lines": list(lines.items()), "functions": functions}


def main(folder):
    train()  # what is loaded now is no part of it
    sampler = pyinstrument.Profiler(interval=0.001, async_mode="disabled")
    with torchmagic.profile(steps=100 * STEPS, warmup=0, save=False) as run, sampler:
        train()
    run.save(folder / "run.jsonl")
    (folder / "sampled.json").write_text(json.dumps(sampled(sampler)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
