"""The pages about the server say what it does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from torchmagic.server.app import application
from torchmagic.server.events import MOST_STEPS
from torchmagic.server.hosts import Hosts
from torchmagic.server.limits import Limits
from torchmagic.server.served import NoDebuggers, Served
from torchmagic.server.standing import NUM_RUNS

ROOT = Path(__file__).parents[2]
NAME = "a-token-that-nobody-asks-for"
PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")


def test_the_table_has_every_endpoint_and_no_other():
    served = Served(history=list, read={}.__getitem__, debuggers=NoDebuggers())
    described = application(served, token=NAME, hosts=Hosts("127.0.0.1")).inner.openapi()["paths"]
    there = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    assert set(re.findall(r"^\| `((?:GET|POST) [^`?]+)(?:\?[^`]*)?` \|", PAGE, flags=re.MULTILINE)) == there


def test_its_limits_are_those_in_force():
    limits = Limits()
    for said in (
        f"ask {limits.requests_per_second:.0f} times a second",
        f"{limits.burst} times at once",
        f"{limits.body_bytes // 1024} KiB",
        f"one of {limits.connections} connections and {limits.streams} streams",
        f"{limits.queued_events} events wait",
        f"After {limits.heartbeat_seconds:.0f} s of silence",
        f"the newest {MOST_STEPS} are",
        f"the newest {NUM_RUNS} runs",
    ):
        assert said in " ".join(PAGE.split()), said


@pytest.mark.parametrize("name", ["serve"])
def test_its_example_runs(name, tmp_path):
    page = (ROOT / "docs" / "api" / f"{name}.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", snippet], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert (done.stdout, done.stderr) == ("0 runs\n", "")
