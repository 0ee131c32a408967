"""This file is the pages of progress, time, memory, the run itself and one parameter."""

from dataclasses import dataclass, field

import pytest

from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run, Status
from torchmagic.views.memory_page import memory_page
from torchmagic.views.page import Bars, Facts, Plot, Shares
from torchmagic.views.parameter_page import parameter_page
from torchmagic.views.progress import progress_page
from torchmagic.views.resources import resources_page
from torchmagic.views.run_page import run_page
from torchmagic.views.time_page import time_page

PHASES = ("data", "forward", "backward", "optimizer", "other")


@dataclass
class Progress:
    """How far a run has come."""

    batch: int = 31
    batches: int | None = 1_043
    epoch: int = 3
    seconds_per_step: float | None = 0.02
    seconds_left: float | None = 20.2
    shares: dict = field(default_factory=lambda: {"data": 0.25, "forward": 0.75})


@pytest.fixture
def run():
    run = Run(source="x = 1", settings={"level": "advanced", "also": ("memory",), "name": "a"})
    frame = run.frame("seconds", PHASES)
    for step in range(4):
        frame.append(step, (0.01, 0.02, 0.03, 0.01, 0.03 if step != 2 else 0.33))
    frame.append(4, (0.0, 0.0, 0.0, 0.0, 9.0))  # what came after the last step
    run.steps, run.clock.seconds, run.clock.cost = 4, 10.0, 0.5
    return run


def facts(page):
    return {name: value for block in page.blocks if isinstance(block, Facts) for name, value in block.rows}


def test_progress_says_batch_pass_time_left_and_the_split_of_a_step(run):
    run.progress = Progress()
    page = progress_page(run)
    assert facts(page) == {
        "steps": "4",
        "time per step": "20 ms",
        "batch of pass 3": "31 of 1043",
        "left of this pass": "20.2 s",
    }
    (shares,) = (block for block in page.blocks if isinstance(block, Shares))
    assert shares.parts == [("waiting for data", 0.005), ("forward", 0.015)]


def test_a_loader_of_unknown_length_has_no_end_in_sight(run):
    run.progress = Progress(batches=None, seconds_left=None)
    assert facts(progress_page(run))["batch of pass 3"] == "31"


def test_a_run_that_has_ended_makes_no_progress(run):
    run.progress = Progress()
    run.status = Status.OK
    assert not progress_page(run).blocks


def test_the_time_page_finds_the_slowest_step_and_not_what_came_after_it(run):
    run.status = Status.OK
    page = time_page(run)
    assert facts(page)["slowest step"] == "400 ms"
    assert facts(page)["time per step, median"] == "100 ms"
    assert facts(page)["cost of watching"] == "500 ms (5.0%)"
    (plot,) = (block for block in page.blocks if isinstance(block, Plot))
    assert plot.lines[0].steps == [0, 1, 2, 3]
    assert plot.lines[0].values == pytest.approx([100, 100, 400, 100])


def test_a_run_without_steps_has_no_time_of_steps():
    assert not [block for block in time_page(Run()).blocks if isinstance(block, Plot)]


def test_memory_that_was_not_measured_has_no_page():
    assert not memory_page(Run()).blocks


def test_the_run_page_says_how_it_was_watched(run):
    assert facts(run_page(run))["level"] == "advanced"
    assert facts(run_page(run))["also"] == "memory"
    assert "without" not in facts(run_page(run))


def test_the_page_of_a_parameter_has_its_courses_and_its_newest_spread(run):
    frame = run.frame("grad_norm", ("net.weight",))
    for step in range(4):
        frame.append(step, (10.0**step,))
    for step in (0, 2):
        histogram = Histogram(edges=(0.0, 1.0, 2.0), counts=(3, step))
        run.records.append(
            SnapshotRecord(
                what=SnapshotKind.WEIGHT, subject="net.weight", step=step, histogram=histogram, values=(1.0,)
            )
        )
    plot, bars = parameter_page(run, "net.weight").blocks
    assert (plot.title, plot.log, plot.lines[0].values) == ("gradient norm", True, [1.0, 10.0, 100.0, 1000.0])
    assert isinstance(bars, Bars)
    assert (bars.title, bars.counts) == ("weights at step 2", (3, 2))


def test_an_unknown_parameter_has_nothing_to_tell(run):
    assert not parameter_page(run, "no.such").blocks


@pytest.mark.parametrize("page", [time_page, resources_page])
def test_a_run_that_trained_nothing_itself_has_no_rows_of_zero(page, run):
    launching = Run()
    launching.clock.seconds, launching.clock.cost = 10.0, 0.5
    shares = {
        steps: [name for block in page(each).blocks if isinstance(block, Shares) for name, _ in block.parts]
        for steps, each in ((0, launching), (4, run))
    }
    assert len(shares[0]) == 2
    assert len(shares[4]) == len(PHASES) + 1


@pytest.mark.parametrize("page", [time_page, resources_page])
def test_what_took_no_time_is_no_part_of_it(page):
    by_hand = Run()
    by_hand.clock.seconds, by_hand.clock.cost, by_hand.steps = 1.0, 0.5, 1
    by_hand.frame("seconds", PHASES).append(0, (0.0, 0.0, 0.2, 0.0, 0.3))
    (shares,) = [block for block in page(by_hand).blocks if isinstance(block, Shares)]
    assert [name for name, _ in shares.parts] == ["backward", "other", "torchmagic"]
