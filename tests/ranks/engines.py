"""This file is a notebook's process whose cells run on ipyparallel's engines, watched there by the cell magic."""

import json
import socket
import sys

import ipyparallel
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

SETUP = """
import os
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
%load_ext torchmagic
distributed.init_process_group("gloo", "tcp://127.0.0.1:PORT", rank=rank, world_size=2)
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
"""
CELL = """%%torchdebug --panel text --name on-engines
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
ASK = """
run = __import__("torchmagic").session.last
answer = None if run.ranks is None else {rank: each.steps for rank, each in run.ranks.runs.items()}
launcher = [each.launcher for each in run.records if type(each).__name__ == "RankRecord"]
"""


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return str(door.getsockname()[1])


def main():
    shell = InteractiveShell.instance()
    with ipyparallel.Cluster(n=2, log_level=40) as client:
        view = client[:]
        view.block = True
        view.scatter("rank", [0, 1], flatten=True)
        client.activate()
        shell.run_cell_magic("px", "", SETUP.replace("PORT", free_port()))
        with capture_output() as printed:
            shell.run_cell_magic("px", "", CELL)
        view.execute(ASK)
        said = {"printed": printed.stdout, "answers": view["answer"], "launchers": view["launcher"]}
        sys.stdout.write("SAID " + json.dumps(said) + "\n")


main()
