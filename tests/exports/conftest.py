"""This file is runs to export: small models that are really trained, and one whose names mean harm."""

import math

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ModelRecord, ParameterRecord
from torchmagic.records.note import NoteRecord
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run
from torchmagic.session.status import Status

LEVELS = ("basic", "intermediate", "advanced", "expert")
HOSTILE = (
    "../../x",
    "/etc/passwd",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "two\nlines\r\u2028three",
    "=HYPERLINK(1)",
    "$\\frac{1}{0}$ `code` | pipe",
    "日本語 \N{GRINNING FACE} \u202e rtl",
    "half \ud800 a pair \x00 and zero",
    "x" * 10_000,
    "..",
    "",
)


def train(level, *, name="", steps=30, lr=0.01):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    inputs = torch.randn(64, 6)
    with torchmagic.watch(level=level, name=name, save=False) as run:
        for _ in range(steps):
            loss = nn.functional.mse_loss(net(inputs), inputs.sum(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return run


@pytest.fixture(scope="session")
def trained():
    """Return a run of each level, by level."""
    return {level: train(level, name=f"run at {level}") for level in LEVELS}


@pytest.fixture(scope="session")
def run(trained):
    return trained["expert"]


@pytest.fixture(scope="session")
def runs(trained):
    return [trained["expert"], trained["basic"]]


def hostile_run(word, run_id="3f2a"):
    """Return a run in which ``word`` stands wherever a name of the user's may, with values that are not finite."""
    run = Run(name=word, source=f"# {word}\nloss.backward()", settings={"level": word}, run_id=run_id)
    run.records += [
        ModelRecord(name=word, class_name=word, num_parameters=4, num_trainable=4, num_bytes=16),
        ParameterRecord(
            name=f"{word}.weight", model=word, module=word, shape=(2, 2), dtype="float32", device="cpu", trainable=True
        ),
        SnapshotRecord(
            what=SnapshotKind.WEIGHT,
            subject=f"{word}.weight",
            step=0,
            histogram=Histogram(edges=(0.0, 1.0, 2.0), counts=(3, 1)),
            values=(0.5,),
        ),
        NoteRecord(text=word),
    ]
    for step, value in enumerate((1.0, math.nan, math.inf, -math.inf, 0.25)):
        run.frame("loss", (word,)).append(step, (value,))
        run.frame("grad_norm", (f"{word}.weight", "plain.bias")).append(step, (value, 2.0))
    run.steps, run.status, run.note, run.tags = 5, Status.ERROR, word, (word,)
    run.clock.seconds, run.clock.cost = 2.0, 0.5
    run.findings = (
        Finding(
            rule="x",
            severity=Severity.ERROR,
            confidence=0.9,
            title=word,
            parameter=f"{word}.weight",
            source=word,
            line=3,
            step=1,
            evidence={word: math.nan},
            why=word,
            fix=f"{word}\n{word}",
        ),
    )
    return run


@pytest.fixture(params=HOSTILE, ids=[f"name{number}" for number in range(len(HOSTILE))])
def hostile(request):
    return hostile_run(request.param)


@pytest.fixture
def wide():
    """Return a run with enough parameters to sort and filter, and norms of many sizes."""
    run = Run(name="wide")
    names = [f"net.layer{layer}.{what}" for layer in range(12) for what in ("weight", "bias")]
    run.records += [
        ParameterRecord(
            name=name, model="net", module="net", shape=(3, 3), dtype="float32", device="cpu", trainable=True
        )
        for name in names
    ]
    for step in range(3):
        norms = [10.0 ** (index % 7 - 3) * (index + 1) for index in range(len(names))]
        run.frame("grad_norm", names).append(step, norms)
    run.steps, run.status = 3, Status.OK
    return run


@pytest.fixture(scope="session")
def named():
    """Return what makes a run of a name that means harm."""
    return hostile_run


@pytest.fixture(scope="session")
def harmful():
    """Return names that mean harm."""
    return HOSTILE
