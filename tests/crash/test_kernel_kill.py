"""This file tests that a real kernel killed in the middle of a cell leaves its run to the next one."""

import os
import sys
import time

import pytest
from jupyter_client.manager import KernelManager

from torchmagic.session.session import Session
from torchmagic.session.status import Status

pytestmark = pytest.mark.kernel
TIMEOUT = 240

TRAIN = """%%torchdebug --panel text
import time
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
while True:
    opt.zero_grad()
    net(torch.randn(16, 4)).pow(2).mean().backward()
    opt.step()
    with open("steps.txt", "a") as file:
        file.write(f"{time.time()}\\n")
    time.sleep(0.002)
"""


@pytest.fixture
def kernels(tmp_path):
    """Start kernels in one project folder."""
    managers = []

    def start():
        manager = KernelManager(kernel_name="python3")
        manager.kernel_spec.argv[0] = sys.executable
        manager.start_kernel(cwd=str(tmp_path), env={**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")})
        client = manager.blocking_client()
        client.start_channels()
        managers.append((manager, client))
        client.wait_for_ready(timeout=TIMEOUT)
        return manager, client

    yield start
    for manager, client in managers:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def run(client, code):
    """Run a cell and return what it printed."""
    printed = []

    def keep(message):
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=keep, timeout=TIMEOUT)
    assert reply["content"]["status"] == "ok", "".join(printed)
    return "".join(printed)


def test_the_next_kernel_finds_what_a_killed_one_had_seen(kernels, tmp_path):
    manager, client = kernels()
    run(client, "%load_ext torchmagic")
    run(client, "import torch")
    client.execute(TRAIN)
    marks = tmp_path / "steps.txt"
    deadline = time.time() + TIMEOUT
    while not (marks.exists() and marks.stat().st_size) and time.time() < deadline:
        time.sleep(0.05)
    time.sleep(3)
    killed = time.time()
    manager.signal_kernel(9)
    while manager.is_alive() and time.time() < deadline:
        time.sleep(0.05)
    steps = [float(line) for line in marks.read_text().splitlines()]
    least = sum(at < killed - 1.0 for at in steps)

    session = Session(tmp_path)
    lost = session.lost()
    assert (lost.status, lost.number) == (Status.LOST, 1)
    assert lost.heading == "import time"
    assert 0 < least <= lost.steps <= len(steps) + 1
    assert len(session.get(1).series("loss")[0]) >= least

    _, second = kernels()
    said = run(
        second,
        "from pathlib import Path\n"
        "from torchmagic.session.entries import newest_lost\n"
        "print(newest_lost(Path.cwd()).steps)",
    )
    assert int(said) == lost.steps
