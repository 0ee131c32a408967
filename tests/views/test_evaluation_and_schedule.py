"""This file tests what the page of curves tells of evaluations and learning rates."""

import pytest

from torchmagic.records.loss import LossRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run
from torchmagic.views.curves import curves_page
from torchmagic.views.page import Facts, Fold, Plot, Table


@pytest.fixture
def run():
    run = Run()
    for step in range(9):
        run.frame("loss", ("loss",)).append(step, (1.0 / (step + 1),))
    run.steps = 9
    return run


def evaluate(run, losses, *, every=2):
    for i, loss in enumerate(losses):
        run.frame("eval_loss", ("cross_entropy(val)",)).append(every * (i + 1), (loss,))


def plots(run):
    return {block.title: block for block in curves_page(run).blocks if isinstance(block, Plot)}


def facts(run):
    return dict(row for block in curves_page(run).blocks if isinstance(block, Facts) for row in block.rows)


def test_the_evaluation_loss_stands_beside_the_training_loss_and_is_told_from_it(run):
    evaluate(run, [0.9, 0.8])
    lines = {line.name: line for line in plots(run)["loss"].lines}
    assert list(lines) == ["loss", "evaluation: cross_entropy(val)"]
    assert lines["evaluation: cross_entropy(val)"].steps == [2, 4]


def test_the_best_evaluation_is_told_with_what_came_after(run, full):
    evaluate(run, [0.9, 0.5, 0.6, 0.7])
    told = facts(run)["evaluation: cross_entropy(val)"]
    assert told.startswith("best 0.5 after 4 steps (pass 2 of 4); 2 passes since, the last 40% above it")
    assert "0.02083 below the training loss at the best, 0.3603 above at the last" in told
    assert "patience" not in told
    assert "the weights at the end are not the best ones" in facts(full)["evaluation: net"]


def test_what_patience_would_have_done_is_told(run):
    evaluate(run, [0.5, 0.6, 0.7, 0.8], every=2)
    assert "a patience of 3 would have stopped after 8 steps" in facts(run)["evaluation: cross_entropy(val)"]


def test_the_last_evaluation_as_the_best_needs_no_more_words(run):
    evaluate(run, [0.9, 0.05])
    told = facts(run)["evaluation: cross_entropy(val)"]
    assert "since" not in told
    assert "below the training loss at the best" in told


def test_losses_that_are_reduced_otherwise_are_not_compared(run):
    evaluate(run, [90.0, 50.0])
    for line, reduction in enumerate(("mean", "sum")):
        place = Place(file="<cell>", line=line, source="")
        run.records.append(
            LossRecord(name="cross_entropy", input_shape=(8, 3), target_shape=(8,), reduction=reduction, place=place)
        )
    assert facts(run)["evaluation: cross_entropy(val)"] == "best 50 after 4 steps (pass 2 of 2)"


def test_a_single_evaluation_is_told_as_such(run):
    evaluate(run, [0.9])
    assert facts(run)["evaluation: cross_entropy(val)"] == "0.9 in a single pass, after 2 steps"


def test_the_passes_wait_in_a_fold(full):
    (fold,) = [block for block in curves_page(full).blocks if isinstance(block, Fold)]
    (table,) = fold.blocks
    assert isinstance(table, Table)
    assert list(table.rows[0]) == [4, "net", "net", 2, "evaluation", "off", "net", "line 3"]


def test_a_learning_rate_that_stays_has_no_curve(run):
    for step in (0, 8):
        run.frame("lr", ("opt",)).append(step, (0.1,))
    assert "learning rate" not in plots(run)


def test_a_learning_rate_holds_until_the_next_and_to_the_end(run):
    run.frame("lr", ("opt",)).append(0, (0.1,))
    run.frame("lr", ("opt",)).append(4, (0.01,))
    (line,) = plots(run)["learning rate"].lines
    assert list(zip(line.steps, line.values, strict=True)) == [(0, 0.1), (3, 0.1), (4, 0.01), (8, 0.01)]


def test_rates_far_apart_are_drawn_on_a_logarithmic_axis(run):
    run.frame("lr", ("a", "b")).append(0, (1.0, 1e-4))
    run.frame("lr", ("a", "b")).append(1, (0.5, 1e-4))
    assert plots(run)["learning rate"].log


def test_a_scheduler_is_told_with_its_cadence_and_course(run, make_schedule):
    run.records.append(make_schedule("sched", class_name="OneCycleLR", settings={"total_steps": 4}))
    for count, step in enumerate((0, 2, 4), start=1):
        run.frame("schedule_steps", ("sched",)).append(step, (count,))
    told = "OneCycleLR (total_steps 4) of opt; stepped 3 times, every 2 optimizer steps; 75% of its course of 4"
    assert facts(run)["sched"] == told


def test_a_scheduler_that_was_never_stepped_is_told(run, make_schedule):
    run.records.append(make_schedule("sched", settings={}, stepped=False, step=None))
    assert facts(run)["sched"] == "StepLR of opt; never stepped"


def test_a_run_without_a_loss_has_no_page():
    assert curves_page(Run()).blocks == []
