"""This file is a page with every kind of block, and the comparison of whole texts with golden files."""

import math
import os
from pathlib import Path

import pytest

from torchmagic.records.finding import Finding, Severity
from torchmagic.views.page import (
    Bars,
    Box,
    Code,
    Diff,
    Facts,
    Findings,
    Flame,
    Fold,
    Line,
    Page,
    Plot,
    Shares,
    Source,
    SourceLine,
    Table,
    Text,
    Trend,
)

GOLDEN = Path(__file__).parent / "golden"
NAN, INF = math.nan, math.inf

ROOT = Finding(
    rule="exploding-gradients",
    severity=Severity.ERROR,
    confidence=0.96,
    title="Gradients of `net.2.weight` grow without bound: norm 4.1e5 at step 8",
    module="net.2",
    parameter="net.2.weight",
    optimizer="opt",
    line=14,
    source="    loss.backward()",
    step=8,
    evidence={"grad norm": 412_307.5, "threshold": 100, "kind": "L2"},
    why="The learning rate of 0.5 overshoots, and each step overshoots further than the last.",
    fix="Clip between `backward()` and `step()`:\ntorch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
)
CONSEQUENCE = Finding(
    rule="non-finite-loss",
    severity=Severity.ERROR,
    confidence=1.0,
    title="The loss is NaN from step 9 on",
    evidence={"loss": NAN},
    causes=("exploding-gradients",),
)
GUESS = Finding(
    rule="dead-relu", severity=Severity.INFO, confidence=0.3, title="Some units are silent", fix="Try `nn.LeakyReLU`."
)


@pytest.fixture
def page():
    steps = [float(step) for step in range(12)]
    return Page(
        title="Run 3",
        blocks=[
            Text(text="12 steps in 1.9 s.", strong=True),
            Findings(findings=[GUESS, CONSEQUENCE, ROOT]),
            Plot(
                title="Loss",
                lines=[
                    Line(name="train", steps=steps, values=[2 / (s + 1) for s in steps[:9]] + [INF, NAN, NAN]),
                    Line(name="validation", steps=[0.0, 6.0], values=[2.5, 1.0]),
                ],
                log=True,
            ),
            Bars(title="Gradient values", edges=[-1.0, -0.5, 0.0, 0.5, 1.0], counts=[3, 40, 36, 1]),
            Table(
                columns=["parameter", "shape", "count", "norm", "gradient", "over steps"],
                rows=[
                    ["net.0.weight", "(16, 8)", 128, 1.25, 0.000321, Trend(values=[3.0, 2.0, 1.0])],
                    ["net.0.bias", "(16,)", 16, 0.5, None, None],
                    ["net.2.weight", "(100, 16)", 16_000, INF, NAN, Trend(values=[1.0, 1e3, INF], log=True)],
                ],
                marked=frozenset({2}),
                title="Parameters",
            ),
            Shares(title="Time of a step", parts=[("data", 0.0412), ("forward", 0.02), ("other", 0.00001)]),
            Facts(rows=[("parameters", "16,144"), ("optimizer", "SGD(lr=0.5)")]),
            Code(text="tensor([[1., 2.],\n        [3., 4.]])"),
            Plot(
                title="Memory, MiB",
                lines=[Line(name=name, steps=steps, values=[1.0] * 12) for name in ("weights", "activations")],
                stacked=True,
            ),
            Diff(
                title="Source",
                old="run 1",
                new="run 2",
                lines=[("@", "line 3"), (" ", "for x in data:"), ("-", "    step(0.1)"), ("+", "    step(0.01)")],
            ),
            Flame(
                title="Time by module",
                boxes=[
                    Box(
                        name="net",
                        amount=0.02,
                        told="Net, 12 calls",
                        parts=[
                            Box(name="embed", amount=0.00002),
                            Box(name="body", amount=0.012, parts=[Box(name="linear", amount=0.009)]),
                            Box(name="head", amount=0.004),
                        ],
                    ),
                    Box(name="loss", amount=0.005),
                ],
            ),
            Source(
                title="this cell",
                columns=["own ms", "share %"],
                lines=[
                    SourceLine(number=None, text="2 lines"),
                    SourceLine(number=3, text="for x in data:", heat=1.0, cells=["41.2", "62"]),
                    SourceLine(number=4, text="\tstep(x)", heat=0.02, cells=["0.9", "1.4"]),
                    SourceLine(number=5, text=""),
                ],
            ),
            Fold(title="More", blocks=[Text(text="Told only to those who ask."), Table(columns=["a"], rows=[[1]])]),
        ],
    )


HOSTILE = '<script>alert("x")</script> & `*_[x](y)_*` | $\\frac{$ \x1b[31m'


@pytest.fixture
def hostile_page():
    """The same kinds of blocks, with every text a trap."""
    trap = HOSTILE
    finding = Finding(
        rule=trap,
        severity=Severity.WARNING,
        confidence=0.9,
        title=trap,
        module=trap,
        parameter=trap,
        optimizer=trap,
        line=1,
        source=trap,
        evidence={trap: trap},
        why=trap,
        fix=f"{trap}\n{trap}",
        causes=(trap,),
    )
    return Page(
        title=trap,
        blocks=[
            Text(text=trap),
            Findings(findings=[finding]),
            Plot(title=trap, lines=[Line(name=trap, steps=[0.0, 1.0], values=[1.0, 2.0])], x_label=trap, y_label=trap),
            Bars(title=trap, edges=[0.0, 1.0], counts=[1]),
            Table(columns=[trap, "n"], rows=[[trap, 1]], title=trap),
            Diff(title=trap, old=trap, new=trap, lines=[(sign, trap) for sign in "@ -+"]),
            Shares(title=trap, parts=[(trap, 1.0)], unit=trap),
            Facts(rows=[(trap, trap)]),
            Flame(title=trap, boxes=[Box(name=trap, amount=1.0, told=trap)], unit=trap),
            Source(
                title=trap,
                columns=[trap],
                lines=[SourceLine(number=1, text=trap, heat=1.0, cells=[trap]), SourceLine(number=None, text=trap)],
            ),
            Code(text=trap),
            Fold(title=trap, blocks=[Text(text=trap), Table(columns=[trap], rows=[[Trend(values=[1.0])]])]),
        ],
    )


@pytest.fixture
def empty_page():
    """Every kind of block with nothing in it."""
    return Page(
        title="",
        blocks=[
            Text(text=""),
            Findings(findings=[]),
            Plot(title="Loss", lines=[]),
            Plot(title="Loss", lines=[Line(name="train", steps=[], values=[])], log=True),
            Plot(title="Loss", lines=[Line(name="train", steps=[3.0], values=[1.5])]),
            Plot(title="Loss", lines=[Line(name="train", steps=[0.0, 1.0], values=[NAN, INF])], log=True),
            Plot(title="Loss", lines=[Line(name="train", steps=[0.0, 1.0], values=[-1.0, 0.0])], log=True),
            Bars(title="Values", edges=[], counts=[]),
            Bars(title="Values", edges=[0.0, 1.0], counts=[0]),
            Table(columns=["a", "b"], rows=[]),
            Shares(title="Time", parts=[]),
            Shares(title="Time", parts=[("all", 0.0)]),
            Facts(rows=[]),
            Code(text=""),
            Diff(title="", old="", new="", lines=[]),
            Diff(title="", old="", new="", lines=[("+", "")]),
            Plot(title="Memory", lines=[], stacked=True),
            Plot(title="Memory", lines=[Line(name="all", steps=[], values=[])], stacked=True),
            Flame(title="", boxes=[]),
            Flame(title="Time", boxes=[Box(name="", amount=0.0), Box(name="lost", amount=NAN)]),
            Source(title="", columns=[], lines=[]),
            Source(title="cell", columns=["own"], lines=[SourceLine(number=1, text="", heat=NAN, cells=[""])]),
            Fold(title="", blocks=[]),
            Table(columns=["a"], rows=[[Trend(values=[])]]),
        ],
    )


@pytest.fixture
def is_golden():
    """Compare a text with a file in ``golden/``; ``TORCHMAGIC_UPDATE_GOLDEN=1`` writes the file instead."""

    def compare(text, name):
        path = GOLDEN / name
        if os.environ.get("TORCHMAGIC_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
