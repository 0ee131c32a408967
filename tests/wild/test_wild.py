"""Whole training programs of many styles, some hundred steps each: no alarm on any, and the bits of a bare run."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest
import torch

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.finding import Severity
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
OPTIONAL = ("sklearn", "lightning", "transformers")
pytestmark = pytest.mark.wild


@pytest.fixture(params=PROGRAMS, ids=lambda path: path.stem)
def source(request):
    """Give the text of each program whose libraries are there."""
    text = request.param.read_text(encoding="utf-8")
    for name in OPTIONAL:
        if re.search(rf"^(?:import|from) {name}\b", text, re.MULTILINE):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pytest.importorskip(name)
    return text


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep sums in one order: on several threads two bare runs of a scatter already differ in their last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(source, namespace):
    """Run a program and return the tensors that it ends with."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # libraries warn of each other
        exec(compile(source, "<program>", "exec"), namespace)  # noqa: S102 - the programs are ours
    return namespace["result"]


def watched(source):
    """Run a program watched; return its tensors and the run."""
    namespace = {"__name__": "__main__"}
    watching = Watch(Settings(save=False), namespace=namespace, source=source, session=Session())
    found = watching.start()
    try:
        result = run(source, namespace)
    finally:
        watching.stop()
    return result, found


def test_a_healthy_program_gets_no_alarm_and_keeps_its_bits(source):
    bare = run(source, {"__name__": "__main__"})
    result, found = watched(source)
    assert not found.of(FailureRecord)
    assert found.steps >= 15
    alarms = [(each.rule, each.title, dict(each.evidence)) for each in found.findings if each.severity != Severity.INFO]
    assert alarms == []
    assert len(result) == len(bare)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(result, bare, strict=True))
