"""This file plays the examples of the rules about ranks: each script as real processes on loopback, one a rank.

Torch is loaded once, and every rank of every script is a fork of this process, in a folder of its script's own. What
the ranks wrote there is read by ``played``.
"""

import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from torchmagic.debuggers.watching import Watch as Watch  # noqa: PLC0414 - every script needs it, so it is loaded once
from torchmagic.probes.hooked import load_compiler
from torchmagic.rules.judgement import judge
from torchmagic.session.launches import read_launch

RANKS = 2
# A script that is not done by then is ended; the longest ones wait a few seconds for a timeout of their own.
PATIENCE = 120.0


def played(scripts, *, folder=None):
    """Return the merged and judged run of each script.

    Args:
        scripts: Source by name; a script may say ``# ranks: 4``.
        folder: Where to; None takes one that is removed.
    """
    with tempfile.TemporaryDirectory() as own:
        home = Path(folder or own)
        for name, source in scripts.items():
            (home / name).mkdir(parents=True)
            (home / name / "train.py").write_text(source, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, __file__, str(home), *scripts], capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr
        took = json.loads(done.stdout.splitlines()[-1])
        return {name: _merged(home / name, took[name]) for name in scripts}


def _merged(folder, took):
    places = list((folder / ".torchmagic" / "ranks").glob("*"))
    said = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("rank-*.txt"))]
    assert len(places) == 1, "\n".join(said)
    ranks = read_launch(places[0])
    runs = [ranks.runs[rank] for rank in ranks.runs]
    runs[0].join(ranks)
    found = [finding.rule for finding in runs[0].findings]
    runs[0].findings = judge(runs[0], _unexpected)
    return runs[0], {"seconds": took, "said": said, "found": found}


def _unexpected(rule, error):
    raise AssertionError(f"{rule} raised") from error


def _play(folder):
    """Run a script as several ranks, and wait for them."""
    source = (folder / "train.py").read_text(encoding="utf-8")
    wanted = re.search(r"^# ranks: (\d+)$", source, re.MULTILINE)
    size = int(wanted[1]) if wanted else RANKS
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = str(door.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size)}
    ranks = [_forked(folder, {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(size)]
    deadline = time.monotonic() + PATIENCE
    while ranks:
        ranks = [pid for pid in ranks if os.waitpid(pid, os.WNOHANG)[0] == 0]
        if time.monotonic() > deadline:
            for pid in ranks:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _forked(folder, environment):
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with (folder / f"rank-{environment['RANK']}.txt").open("w", encoding="utf-8") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            os.environ.update(environment, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
            os.chdir(folder)
            runpy.run_path("train.py", run_name="__main__")
            code = 0
    except BaseException:  # noqa: BLE001 - what ends a rank is what the example is about
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main(home, names):
    torch.set_num_threads(1)  # a fork has no other thread than the one that forked
    load_compiler()
    took = {}
    for name in names:
        began = time.monotonic()
        _play(home / name)
        took[name] = time.monotonic() - began
    sys.stdout.write(f"{json.dumps(took)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
