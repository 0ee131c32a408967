"""This file is the scene of a crash: a project folder, and real processes that train in it until they are killed."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def start(tmp_path):
    """Start processes that run code in the project folder; whatever is left of them at the end is killed."""
    children = []

    def start(code, *arguments, cwd=tmp_path):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        with child:
            pass
