"""This file gives each test of the debuggers a folder, an empty session and switches of its own."""

import pytest

import torchmagic
from torchmagic.debuggers.switches import switches


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    switches.reset()
    torchmagic.session.clear()
    torchmagic.session.close()
