"""The table of what each listener costs is made by reaching into a watch: it is run here, so that it follows it."""

import os
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "listeners.py"


def test_each_listener_has_a_line(tmp_path):
    command = [sys.executable, BENCHMARK, "--level", "basic", "--steps", "3"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=240
    )
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first.startswith("tiny MLP, basic: bare ")
    for listener in ("Gradients._step_begins at step_begin", "Watch._close_step at step_end", "Nonfinite.flush"):
        assert any(listener in line for line in lines), listener
