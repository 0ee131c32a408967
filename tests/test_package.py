"""Importing torchmagic costs nothing, and every public name can be had."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic

INIT = Path(torchmagic.__file__)
# An audit hook cannot be removed again, so each of these runs in a process of its own.
WATCHED_IMPORT = """
import json, sys, threading
opened = []
def hear(event, arguments):
    if event == "open":
        opened.append(str(arguments[0]))
    elif event.split(".")[0] in ("socket", "sqlite3", "subprocess"):
        opened.append(event)
before, threads = set(sys.modules), threading.active_count()
sys.addaudithook(hear)
import torchmagic
print(json.dumps({
    "modules": sorted(set(sys.modules) - before),
    "threads": threading.active_count() - threads,
    "opened": [each for each in opened if not each.endswith((".py", ".pyc"))],
}))
"""


@pytest.fixture(scope="module")
def imported():
    done = subprocess.run(
        [sys.executable, "-c", WATCHED_IMPORT], capture_output=True, text=True, check=True, timeout=300
    )
    return json.loads(done.stdout)


def test_importing_loads_neither_torch_nor_ipython_nor_matplotlib(imported):
    heavy = {"torch", "numpy", "IPython", "ipykernel", "matplotlib", "ipywidgets", "anywidget", "traitlets", "psutil"}
    assert not heavy & {name.partition(".")[0] for name in imported["modules"]}


def test_importing_loads_no_room(imported):
    assert [name for name in imported["modules"] if name.startswith("torchmagic")] == ["torchmagic"]


def test_importing_starts_no_thread_and_opens_no_file(imported):
    assert imported["threads"] == 0
    assert imported["opened"] == []


def test_every_public_name_loads():
    for name in torchmagic.__all__:
        assert getattr(torchmagic, name) is not None, name


def test_every_public_name_is_listed_once_and_shown_by_dir():
    assert len(set(torchmagic.__all__)) == len(torchmagic.__all__)
    assert set(torchmagic.__all__) <= set(dir(torchmagic))


def test_the_names_for_type_checkers_are_the_names_that_load():
    block = next(node for node in ast.parse(INIT.read_text()).body if isinstance(node, ast.If))
    told = {
        alias.asname: f"{node.module.removeprefix('torchmagic.')}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == torchmagic._HOMES
    assert {*told, "session", "__version__"} == set(torchmagic.__all__)


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match=r"torchmagic.*'no_such_name'"):
        _ = torchmagic.no_such_name


def test_session_is_the_session_and_not_the_room_of_that_name():
    import torchmagic.session.run  # noqa: PLC0415 - an import of the room must not bind its name over the session

    assert isinstance(torchmagic.session, torchmagic.Session)
    assert torchmagic.session is torchmagic.session


def test_star_import_gives_the_public_names():
    names = {}
    exec("from torchmagic import *", names)  # noqa: S102 - the only way to try it
    assert set(torchmagic.__all__) <= set(names)
