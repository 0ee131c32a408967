"""This file tests where the names of models and tensors are looked for."""

import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic.probes import names as names_file
from torchmagic.probes.names import Names
from torchmagic.records.model import OptimizerRecord


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


def test_each_optimizer_of_a_list_has_a_name_of_its_own_though_the_loop_calls_them_by_one(run_cell):
    run, _ = run_cell(
        """
        weights = [torch.randn(3, requires_grad=True) for _ in range(3)]
        opts = [torch.optim.Adam([each]) for each in weights]
        for step in range(3):
            sum(each.pow(2).sum() for each in weights).backward()
            for o in opts:
                o.step()
                o.zero_grad()
        """
    )
    assert [each.name for each in run.of(OptimizerRecord)] == ["o", "opts[1]", "opts[2]"]


def test_an_optimizer_that_is_built_again_keeps_its_name(run_cell):
    run, _ = run_cell(
        """
        weight, kept = torch.randn(3, requires_grad=True), []
        for fold in range(3):
            opt = torch.optim.Adam([weight])
            kept.append(opt)
            weight.pow(2).sum().backward()
            opt.step()
        """
    )
    assert {each.name for each in run.of(OptimizerRecord)} == {"opt"}


def test_optimizers_that_a_library_keeps_to_itself_are_numbered():
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    hidden = [torch.optim.SGD([each], lr=0.1) for each in weights]
    names = Names({})
    assert names.of_optimizer(hidden[0], None) == "SGD"
    assert names.of_optimizer(hidden[1], None, taken={"SGD"}) == "SGD#2"
