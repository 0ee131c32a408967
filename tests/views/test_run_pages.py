"""This file tests the pages of a run, drawn from runs that were built by hand."""

import math
import os
from pathlib import Path

import pytest

from torchmagic.analyses.time_split import PHASES
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ModelRecord, OptimizerRecord, ParameterRecord
from torchmagic.records.note import CrashRecord, EnvironmentRecord, FailureRecord, NoteRecord
from torchmagic.session.run import Run, Status
from torchmagic.views.curves import curves_page
from torchmagic.views.findings import findings_page, headline
from torchmagic.views.page import Findings, Plot, Table, Text
from torchmagic.views.pages import PAGES, run_pages
from torchmagic.views.parameters import parameters_page
from torchmagic.views.report import report
from torchmagic.views.resources import resources_page
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.text import as_text

GOLDEN = Path(__file__).parent / "golden"
NAN, INF = math.nan, math.inf
WEIGHT, BIAS = "net.0.weight", "net.0.bias"


def parameter(name, shape, *, trainable=True):
    return ParameterRecord(
        name=name, model="net", module="net.0", shape=shape, dtype="float32", device="cpu", trainable=trainable
    )


@pytest.fixture
def healthy():
    run = Run(name="digits", source="...", run_id="1")
    run.records += [
        EnvironmentRecord(torch="2.13.0", python="3.11.7", platform="Linux", device="cpu", num_threads=2),
        ModelRecord(name="net", class_name="Sequential", num_parameters=12_345, num_trainable=12_345, num_bytes=49_380),
        parameter(WEIGHT, (16, 8)),
        parameter(BIAS, (16,), trainable=False),
        OptimizerRecord(name="opt", class_name="Adam", lr=(0.001, 0.001, 0.1), parameters=(WEIGHT, BIAS)),
    ]
    for step in range(10):
        loss = 2.0 / (step + 1)
        run.frame("loss", ("loss",)).append(step, (loss,))
        run.frame("grad_norm", ("",)).append(step, (2 * loss,))
        run.frame("grad_norm", (WEIGHT,)).append(step, (2 * loss,))
        run.frame("update_ratio", (WEIGHT,)).append(step, (0.001,))
        run.frame("seconds", PHASES).append(step, (0.01, 0.02, 0.03, 0.01, 0.005))
        run.frame("rss_bytes", ("",)).append(step, (2**28 + step * 2**20,))
    run.steps, run.status = 10, Status.OK
    run.clock.seconds, run.clock.cost = 0.8, 0.05
    return run


@pytest.fixture
def sick(healthy):
    healthy.findings = (
        Finding(
            rule="missing-zero-grad",
            severity=Severity.ERROR,
            confidence=0.97,
            title="opt steps on gradients that are never reset",
            optimizer="opt",
            parameter=WEIGHT,
            line=7,
            source="loss.backward()",
            step=1,
            evidence={"steps in a row without a reset": 9, "threshold": 3},
            why="backward() adds to .grad.",
            fix="opt.zero_grad()  # once a step, before backward()",
        ),
        Finding(
            rule="exploding-gradient",
            severity=Severity.ERROR,
            confidence=0.9,
            title="the gradient norm reaches 4e5",
            causes=("missing-zero-grad",),
        ),
    )
    return healthy


@pytest.fixture
def crashed():
    run = Run(name="oops")
    run.records.append(
        CrashRecord(error="RuntimeError", message="shapes", file="<cell>", line=3, source="loss = net(x) @ y")
    )
    run.status = Status.ERROR
    run.clock.seconds = 0.2
    return run


@pytest.fixture
def broken():
    run = Run()
    run.records += [parameter(WEIGHT, (16, 8))]
    for step in range(5):
        for metric in ("loss", "grad_norm", "grad_norm_before_clip", "update_ratio", "weight_norm", "rss_bytes"):
            run.frame(metric, ("",)).append(step, (NAN,))
            run.frame(metric, (WEIGHT,)).append(step, (NAN if step % 2 else INF,))
    run.steps, run.status = 5, Status.OK
    run.clock.seconds = 1.0
    return run


def texts(page):
    return [block.text for block in page.blocks if isinstance(block, Text)]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("kind", ["empty", "crashed", "healthy", "sick", "broken"])
def test_every_page_of_every_run_can_be_read_as_text_and_html(kind, page, request):
    run = Run() if kind == "empty" else request.getfixturevalue(kind)
    drawn = page(run)
    assert as_text(drawn).strip()
    assert as_html(drawn)


@pytest.mark.parametrize("kind", ["empty", "crashed", "sick", "broken"])
def test_every_run_has_its_report(kind, request):
    run = Run() if kind == "empty" else request.getfixturevalue(kind)
    assert report(run).startswith("<!DOCTYPE html>")


def test_a_whole_run_reads_well(sick):
    text = as_text(run_pages(sick), title=headline(sick)) + "\n"
    path = GOLDEN / "run.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_an_empty_run_says_that_there_was_little_to_judge():
    run = Run()
    run.status = Status.OK
    assert texts(findings_page(run)) == ["No optimizer stepped in this cell, so there was little to judge."]


def test_a_running_run_does_not_pretend_to_be_judged():
    run = Run()
    run.steps = 5
    assert texts(findings_page(run)) == ["Running, step 5: no findings so far."]
    assert headline(run) == "torchdebug · running · 5 steps"


def test_a_healthy_run_says_so(healthy):
    assert texts(findings_page(healthy)) == ["Nothing found wrong in 10 steps."]
    assert not [block for block in findings_page(healthy).blocks if isinstance(block, Findings)]


def test_a_crash_is_told_first_with_its_line(crashed):
    assert texts(findings_page(crashed))[0].startswith(
        "The cell ended with RuntimeError at line 3 (loss = net(x) @ y). No optimizer stepped"
    )


def test_a_crash_whose_line_is_not_known_is_told_without_one():
    run = Run()
    run.records.append(CrashRecord(error="KeyboardInterrupt", message="", file="", line=0, source=""))
    run.status = Status.INTERRUPTED
    assert texts(findings_page(run))[0].startswith("The cell ended with KeyboardInterrupt. No optimizer")


def test_findings_come_right_after_the_verdict(sick):
    lead, findings = findings_page(sick).blocks[:2]
    assert lead.text == "2 errors."
    assert findings.findings == sick.findings


def test_what_could_not_be_seen_is_said(healthy):
    healthy.records += [
        FailureRecord(probe="Weights", error="TypeError: no", where="/probes/weights.py:40"),
        NoteRecord(text="Inside torch.compile nothing could be seen."),
    ]
    assert texts(findings_page(healthy))[1:] == [
        "Weights failed and was off for the rest of the run: TypeError: no /probes/weights.py:40",
        "Inside torch.compile nothing could be seen.",
    ]


def test_the_headline_counts_steps_time_cost_and_findings(sick):
    assert headline(sick) == "digits · ok · 10 steps · 800 ms · cost 6.2% · 2 errors"


def test_one_step_is_not_one_steps(healthy):
    healthy.steps = 1
    assert "1 step ·" in headline(healthy)
    assert texts(findings_page(healthy)) == ["Nothing found wrong in 1 step."]


def test_each_loss_is_a_curve_by_its_name():
    run = Run()
    for step in range(3):
        run.frame("loss", ("d_loss",)).append(step, (1.0,))
        run.frame("loss", ("g_loss",)).append(step, (2.0,))
    (plot,) = curves_page(run).blocks
    assert [line.name for line in plot.lines] == ["d_loss", "g_loss"]


def test_a_curve_over_decades_is_drawn_on_a_logarithmic_axis():
    run = Run()
    for step in range(4):
        run.frame("loss", ("loss",)).append(step, (10.0**-step,))
    assert curves_page(run).blocks[0].log
    run.frame("loss", ("loss",)).append(4, (-1.0,))
    assert not curves_page(run).blocks[0].log


def test_the_norm_before_clipping_stands_beside_the_norm_after(healthy):
    healthy.frame("grad_norm_before_clip", ("",)).append(0, (99.0,))
    plot = [block for block in curves_page(healthy).blocks if isinstance(block, Plot)][-1]
    assert [line.name for line in plot.lines] == ["total", "before clipping"]


def test_the_parameter_table_shows_only_columns_that_have_a_value(healthy):
    (table,) = [block for block in parameters_page(healthy).blocks if isinstance(block, Table)]
    assert table.columns == ("parameter", "shape", "grad norm", "highest", "over steps", "update ratio")
    assert table.rows[0][:2] == (WEIGHT, "16×8")
    assert table.rows[1][2:] == (None, None, None, None)
    assert texts(parameters_page(healthy))[0].startswith("2 parameters, 1 frozen.")


def test_a_parameter_that_a_finding_names_or_that_broke_is_marked(sick, broken):
    for run in (sick, broken):
        (table,) = [block for block in parameters_page(run).blocks if isinstance(block, Table)]
        assert table.marked == frozenset({0})


def test_a_scalar_parameter_has_a_shape_that_can_be_read():
    run = Run()
    run.records.append(parameter("net.scale", ()))
    (table,) = [block for block in parameters_page(run).blocks if isinstance(block, Table)]
    assert table.rows[0][1] == "scalar"


def test_memory_is_told_with_its_growth(healthy):
    assert "265 MiB (+9 MiB over the run)" in as_text(resources_page(healthy))
