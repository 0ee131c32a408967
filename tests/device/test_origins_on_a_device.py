"""This file tests that a value on a device that is not finite is traced as one on the host is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What steps them again copies the optimizer, which the simulated device cannot.
WITHOUT_COPIES = {"adam without epsilon", "an update that divides zero by zero"}


@pytest.fixture(scope="module")
def origins(library):
    done = subprocess.run(
        [sys.executable, HERE / "origins.py", library], check=False, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_operator_and_line_are_those_that_the_host_tells(origins):
    ran = {name: told for name, told in origins["harmful"].items() if not told["raised"]}
    assert len(ran) >= 85
    assert [name for name, told in ran.items() if told["failures"]] == []
    again = {name: told for name, told in ran.items() if name not in WITHOUT_COPIES}
    assert [name for name, told in again.items() if told["line"] != told["wanted"]] == []
    assert [name for name, told in again.items() if told["ops"] and told["op"] not in told["ops"]] == []


def test_what_is_harmless_is_silent(origins):
    ran = {name: told for name, told in origins["harmless"].items() if not told["raised"]}
    assert len(ran) >= 8
    assert [name for name, told in ran.items() if told["found"] or told["failures"]] == []
