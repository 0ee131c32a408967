"""This file plants origins of non-finite values of every kind, and demands operator, line and cause; and silence."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.records.nonfinite import NonfiniteRecord

_spec = importlib.util.spec_from_file_location("origin_cases", Path(__file__).with_name("origin_cases.py"))
origin_cases = sys.modules["origin_cases"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(origin_cases)


@pytest.mark.filterwarnings(
    "ignore:std",
    "ignore:.torch.jit:DeprecationWarning",
    "ignore:Converting a tensor with requires_grad:UserWarning:torch",
)
@pytest.mark.parametrize("case", origin_cases.ORIGINS, ids=lambda case: case.name)
def test_an_origin_is_found_with_operator_line_and_cause(run_cell, case, monkeypatch):
    if "torch.compile" in case.source:  # dynamo looks for the cell's names in the module of that name
        monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(torch=torch, nn=nn, F=functional))
    run, _ = run_cell(case.source)
    (record,) = run.of(NonfiniteRecord)
    told = (record.direction, record.place.line if record.place else 0, record.cause)
    assert told == (case.direction, case.line, case.cause), record
    assert record.proven
    if case.ops:
        assert record.op in case.ops
    if case.module:
        assert record.module == case.module
    if case.parameter:
        assert record.parameter == case.parameter


@pytest.mark.parametrize("source", origin_cases.HARMLESS.values(), ids=origin_cases.HARMLESS)
def test_what_does_no_harm_is_silent(run_cell, source):
    run, _ = run_cell(source)
    assert run.of(NonfiniteRecord) == []
