"""``python -m torchmagic serve``: a store over HTTP, without torch."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import torchmagic

ROOT = Path(torchmagic.__file__).parents[1]
# torch cannot be imported in the process that serves.
WITHOUT_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "psutil", "IPython", "ipywidgets"):
            raise ImportError(f"{name} is not to be had here")
sys.meta_path.insert(0, Refuse())
from torchmagic.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def start(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", WITHOUT_TORCH, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_store_is_served_without_torch_until_it_is_told_to_end(stored, ending):
    process = start("serve", "--store", str(stored.folder), "--port", "0")
    try:
        first, second = process.stdout.readline(), process.stdout.readline()
        url = re.fullmatch(rf"serving {re.escape(str(stored.folder))} at (http://127\.0\.0\.1:\d+)\n", first)[1]
        headers = {"Authorization": f"Bearer {second.removeprefix('token: ').strip()}"}
        with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=300) as client:
            assert [run["name"] for run in client.get("/runs").json()["runs"]] == ["under way", "done"]
            assert client.get("/runs/1/series/loss").json()["points"] == 30
            assert "<html" in client.get("/runs/1/report").text
            assert "torchmagic_run_steps_total" in client.get("/metrics").text
            assert client.get("/training-logs/debug/summary").status_code == 200
        process.send_signal(ending)
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()


def test_a_token_of_the_environment_is_taken_and_not_printed(stored):
    stays = "a-token-that-stays-the-same"
    process = start("serve", "--store", str(stored.folder), TORCHMAGIC_TOKEN=stays)
    try:
        url = process.stdout.readline().split()[-1]
        assert process.stdout.readline() == "token: the one in TORCHMAGIC_TOKEN\n"
        headers = {"Authorization": f"Bearer {stays}"}
        assert httpx.get(f"{url}/runs", headers=headers, trust_env=False, timeout=300).status_code == 200
    finally:
        process.kill()
        process.communicate(timeout=300)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["serve", "--store", "/nowhere/at/all"], "torchmagic: there is no store at /nowhere/at/all/.torchmagic"),
        (["serve", "--port", "x"], "argument --port: invalid int value: 'x'"),
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, says):
    process = start(*arguments)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 2
    assert says in err
    assert "Traceback" not in err
    assert out == ""


def test_the_module_can_be_run():
    done = subprocess.run(
        [sys.executable, "-m", "torchmagic", "serve", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        cwd=ROOT,
    )
    assert "torch is not needed" in done.stdout
    assert "TORCHMAGIC_TOKEN" in done.stdout
