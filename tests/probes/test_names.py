"""This file tests where the names of models and tensors are looked for."""

import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic.probes import names as names_file
from torchmagic.probes.names import Names


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user's own with a model in it."""
    (tmp_path / "models_of_mine.py").write_text("from torch import nn\n\nnet = nn.Linear(2, 1)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__("models_of_mine")
    yield module
    del sys.modules["models_of_mine"]


def test_a_module_of_the_user_s_is_looked_into(mine):
    assert Names({"mine": mine}).of_model(mine.net, None) == (mine.net, "mine.net")
    made = ModuleType("made")
    made.net = nn.Linear(2, 1)
    assert Names({"made": made}).of_model(made.net, None)[1] == "made.net"


def test_what_libraries_hold_is_not_gone_through(mine, monkeypatch):
    asked = []
    genuine = names_file.is_genuine
    monkeypatch.setattr(names_file, "is_genuine", lambda value: asked.append(value) or genuine(value))
    space = {"np": np, "torch": torch, "sys": sys, "pytest": pytest, "mine": mine, "w": torch.zeros(1)}
    assert Names(space).of_tensors([space["w"]]) == {id(space["w"]): "w"}
    assert len(asked) <= len(space) + 2 * len(vars(mine))
