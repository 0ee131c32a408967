"""This file tests that a process group whose model is gone does not end in the middle of its last exchange."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.ranks

PROGRAM = textwrap.dedent(
    """
    import gc, sys, weakref
    import torch
    import torchmagic
    from torch import distributed, nn
    from torch.nn.parallel import DistributedDataParallel

    def train():
        distributed.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meet", rank=0, world_size=1)
        group = weakref.ref(distributed.group.WORLD)
        model = DistributedDataParallel(nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(8, 4)).sum().backward()
            optimizer.step()
        distributed.destroy_process_group()
        return group

    with torchmagic.watch(report="none") as run:
        group = train()
        gc.collect()
        print(group() is not None)
    gc.collect()
    print(group() is not None, run.steps)
    """
)


def test_a_group_ends_with_the_watch_where_python_lets_go_of_its_lock_and_not_with_the_model(tmp_path):
    """Ended by a DDP's reducer, a group joins threads one of which may wait for Python's lock: both wait for ever."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False", "3"]
