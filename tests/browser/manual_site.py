"""This file is the manual as a site, built once for all tests that look at it, whichever process they run in."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from filelock import FileLock

from torchmagic.rules.catalogue import RULES

DOCS = Path(__file__).parents[2] / "docs"
SOME_RULES = tuple({rule.group: rule for rule in RULES}.values())


def docs_modules():
    """Return the scripts that lay the manual out, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        return {name: import_module(name) for name in ("build", "contents", "house", "links", "peer_table", "stage")}


def built_manual(tmp_path_factory):
    """Return the folder of the manual, with one rule of each group, whose example is not run: all take minutes."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # that of all workers; each has one of its own in it
    folder /= "manual"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "is-built").exists():
            _build(folder)
            (folder / "is-built").touch()
    return folder / "html"


def _build(folder):
    tools = docs_modules()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools["build"], "RULES", SOME_RULES)
        tools["build"].build(folder, describe=lambda rule: f"## Example\n\nof {rule.id}\n")
    tools["stage"].stage(folder / "source", folder / "rules")
    places = [folder / "source", folder / "html"]
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", DOCS, *places]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
