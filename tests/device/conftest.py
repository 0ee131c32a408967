"""This file builds the simulated device, once for a version of it and of torch, and has it tried in a process apart."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.cpp_extension import include_paths, library_paths

HERE = Path(__file__).parent
BUILT = HERE.parents[1] / "build" / "device"
LIBRARIES = ["-ltorch", "-ltorch_cpu", "-lc10"]


@pytest.fixture(scope="session")
def library():
    """Path of the device's library; it stays in build/, which no commit holds."""
    compiler = shutil.which("g++")
    if compiler is None or sys.platform != "linux":
        pytest.skip("the simulated device is built by g++ on Linux")
    source = HERE / "device.cpp"
    key = hashlib.sha256(source.read_bytes() + torch.__version__.encode()).hexdigest()[:16]
    path = BUILT / f"{key}.so"
    if not path.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        include = [f"-I{each}" for each in include_paths()]
        link = [flag for each in library_paths() for flag in (f"-L{each}", f"-Wl,-rpath,{each}")]
        made = path.with_suffix(".part")
        command = [compiler, "-std=c++20", "-shared", "-fPIC", *include, source, "-o", made, *link, *LIBRARIES]
        subprocess.run(command, check=True, capture_output=True, text=True)
        made.rename(path)
    return path


@pytest.fixture(scope="session")
def told_by(library):
    """Return a function that runs a script with the device and returns the JSON that it prints last."""

    def run(script):
        done = subprocess.run(
            [sys.executable, HERE / script, library], check=False, capture_output=True, text=True, timeout=500
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def facts(told_by):
    """What happened on the device; reading its memory from the host would have ended the process that tried."""
    return told_by("facts.py")
