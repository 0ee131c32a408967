"""This file is a run with something of everything that a run can hold."""

import math

import pytest

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.note import NoteRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run, Status


@pytest.fixture
def full_run():
    run = Run(name="lr sweep", source="for x, y in loader:\n    ...", settings={"level": "basic", "only": ["backward"]})
    run.records += [
        NoteRecord(text="ünïcode, 'quotes' and \ud800 a lone surrogate"),
        NonfiniteRecord(birth=Birth.FORWARD, step=2, op="log", place=Place(file="<cell>", line=3, source="x.log()")),
        parameter("net.0.weight"),
    ]
    for step in range(4):
        run.frame("loss", ("loss",)).append(step, (1.0 / (step + 1),))
        run.frame("grad_norm", ("net.0.weight", "net.0.bias")).append(step, (math.nan, math.inf))
    run.steps = 4
    run.status = Status.ERROR
    run.clock.seconds, run.clock.cost = 2.0, 0.5
    run.findings = (
        Finding(
            rule="x", severity=Severity.ERROR, confidence=0.5, title="t", evidence={"loss": math.nan}, causes=("y",)
        ),
    )
    return run


@pytest.fixture
def same_run():
    """Return the comparison of two runs in all they hold."""

    def compare(left, right):
        for name in ("id", "name", "source", "settings", "status", "clock", "steps", "records", "findings"):
            assert repr(getattr(left, name)) == repr(getattr(right, name)), name
        columns = [
            {(f.metric, f.subjects): [f.column(s) for s in f.subjects] for f in run.frames} for run in (left, right)
        ]
        assert repr(columns[0]) == repr(columns[1])

    return compare


def parameter(name):
    return ParameterRecord(
        name=name,
        model="net",
        module=name.rpartition(".")[0],
        shape=(2, 3),
        dtype="float32",
        device="cpu",
        trainable=True,
    )
