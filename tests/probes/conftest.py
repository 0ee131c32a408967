"""This file runs a piece of source as a cell is run: watched, with its own names and with lines that resolve."""

import itertools
import linecache
import sys
import textwrap

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.graph_walk import Packing
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session

NUMBERS = itertools.count(1)


@pytest.fixture(autouse=True)
def nothing_packed(monkeypatch):
    """Have what another test packed forgotten, as in another process."""
    monkeypatch.setattr(Packing, "was_seen", False)


@pytest.fixture
def run_cell():
    """Return a function that runs source under the watch and returns the run and the cell's names."""

    def run(source, *, names=None, raises=None, **settings):
        source = textwrap.dedent(source)
        file = f"<cell {next(NUMBERS)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        namespace = {"__name__": "__main__", "torch": torch, "nn": nn, "F": functional, **(names or {})}
        torch.manual_seed(0)
        chosen = Settings(**{"save": False, "every": 1, **settings})
        watching = Watch(chosen, namespace=namespace, source=source, session=Session())
        code, error = compile(source, file, "exec"), None
        watched = watching.start()
        try:
            exec(code, namespace)  # noqa: S102 - the sources are ours
        except BaseException as raised:  # noqa: BLE001 - the watch is closed as a cell closes it
            error = raised
        watching.stop(error)
        assert not watched.of(FailureRecord)
        if raises is None and error is not None:
            raise error
        assert raises is None or isinstance(error, raises), error
        return watched, namespace

    return run


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put a library where libraries are."""

    def install(name, text):
        folder = tmp_path / "site-packages"
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, name, raising=False)
        names.append(name)

    names = []
    yield install
    for name in names:
        sys.modules.pop(name, None)
