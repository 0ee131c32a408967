"""This file launches ranks: real processes on loopback, as a launcher does it."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from torchmagic.session.launches import read_launch

HERE = Path(__file__).parent
PATIENCE = 400  # seconds; a busy machine needs them


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


class Launch:
    """Processes that run one script, each as a rank of its own."""

    def __init__(self, folder, script, *arguments, size=2):
        self.folder, self.size = folder, size
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
        shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(size)}
        shared |= {"OMP_NUM_THREADS": "1", "LOCAL_WORLD_SIZE": str(size), "GLOO_SOCKET_IFNAME": "lo"}
        self.processes = [
            subprocess.Popen(
                [sys.executable, str(script), *arguments],
                cwd=folder,
                env={**own, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(size)
        ]

    def wait(self):
        """Wait for all; return what each printed, and what it said."""
        done = [process.communicate(timeout=PATIENCE) for process in self.processes]
        return SimpleNamespace(
            codes=[process.returncode for process in self.processes],
            printed=[out for out, _ in done],
            errors=[err for _, err in done],
            said=[said_in(out) for out, _ in done],
        )

    def kill(self):
        """End what still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()


def said_in(printed):
    lines = [line for line in printed.splitlines() if line.startswith("SAID ")]
    return json.loads(lines[-1].removeprefix("SAID ")) if lines else {}


def folder_of_launch(project):
    (found,) = (project / ".torchmagic" / "ranks").iterdir()
    return found


@pytest.fixture
def launch():
    """Start a launch; what is left of it at the end of the test is killed."""
    started = []

    def start(folder, script, *arguments, **settings):
        started.append(Launch(folder, script, *arguments, **settings))
        return started[-1]

    yield start
    for each in started:
        each.kill()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two ranks that ran every scene of ``training.py``: what they said, and their runs by the name of the scene."""
    folder = tmp_path_factory.mktemp("launch")
    started = Launch(folder, HERE / "training.py")
    try:
        done = started.wait()
        assert done.codes == [0, 0], done.errors
        place = folder_of_launch(folder)
        scenes = {}
        for sequence in range(64):
            ranks = read_launch(place, sequence=sequence)
            if not ranks.num_read:
                break
            scenes[ranks.runs[0].name] = ranks
    finally:
        started.kill()
    return SimpleNamespace(folder=folder, place=place, done=done, said=done.said, scenes=scenes)
