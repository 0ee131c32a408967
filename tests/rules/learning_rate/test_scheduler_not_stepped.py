"""This file tests the rule on schedulers that are never stepped, on records written by hand."""

import pytest

from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.learning_rate.scheduler_not_stepped import scheduler_not_stepped

NEVER = {"stepped": False, "step": None, "place": None}


def found(history, *, steps=40, epochs=None, **changes):
    history.group().rates([0.1] * steps).schedule(**NEVER | changes)
    if epochs is not None:
        history.series("epoch_batches", [8] * epochs, ("loader",))
    return list(scheduler_not_stepped(history.run))


def test_a_scheduler_that_is_never_stepped_is_told_where_it_was_built(history):
    (finding,) = found(history)
    assert (finding.severity, finding.line) == ("warning", 3)


def test_its_line_is_found_in_the_source_where_building_it_was_not_seen(history):
    history.run.source = "x = 1\nsched = StepLR(opt, 3)\n"
    (finding,) = found(history, built=None)
    assert (finding.line, finding.source) == (2, "sched = StepLR(opt, 3)")


def test_one_from_an_earlier_cell_is_silent(history):
    assert found(history, built=None) == []


def test_one_that_is_stepped_is_silent(history):
    assert found(history, stepped=True, step=3) == []


@pytest.mark.parametrize(("steps", "epochs", "count"), [(20, 2, 1), (19, 2, 0), (20, 1, 0), (20, None, 1)])
def test_twenty_steps_and_two_passes_are_needed(history, steps, epochs, count):
    assert len(found(history, steps=steps, epochs=epochs)) == count


def test_one_whose_turn_has_not_come_beside_another_is_silent(history):
    history.schedule(name="warm")
    assert found(history) == []


def test_an_optimizer_of_two_groups_is_told_once(history):
    history.group(subject="opt[1]").rates([0.1] * 40, "opt[1]")
    assert len(found(history)) == 1


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("if epoch >= 10:\n    trainer.plan.step()", "info"),
        ("x = 0", "warning"),
        ("if a:\n    other.step()", "warning"),
    ],
)
def test_one_that_is_stepped_under_a_condition_may_only_wait_for_its_time(history, call, severity):
    history.run.source = f"plan = StepLR(opt, 3)\n{call}\n"
    (finding,) = found(history)
    assert finding.severity == severity


@pytest.mark.parametrize(
    ("begun", "grows", "count"),
    [
        ((0, 10, 20), False, 1),  # a loader made anew for each pass
        ((0, 10, 20), True, 0),  # three sets of other sizes
        ((0, 40, 80), False, 0),  # others' passes: this optimizer was at work in the first only
        ((0, 0, 0), False, 0),  # a pass to train, and two to test
    ],
)
def test_passes_over_loaders_that_are_made_anew_count_together(history, begun, grows, count):
    place = Place(file="cell", line=6, source="for x, y in DataLoader(train, 8):")
    for number, step in enumerate(begun):
        samples = 80 + number if grows else 80
        record = LoaderRecord(
            name=f"DataLoader#{number}",
            batch_size=8,
            num_workers=0,
            sampler="RandomSampler",
            num_batches=10,
            num_samples=samples,
            place=place,
            made=place,
        )
        history.run.records.append(record)
        history.series("epoch_start_seconds", [0.01], (record.name,), steps=[step])
        history.series("epoch_batches", [10], (record.name,), steps=[max(begun)])
    assert len(found(history, steps=40)) == count


BATCHES = {"class_name": "OneCycleLR", "settings": {"total_steps": 40.0}}


@pytest.mark.parametrize(
    ("epochs", "changes", "fix"),
    [
        (None, {}, "sched.step()  # once an epoch"),
        (5, {"settings": {"step_size": 3.0}}, "sched.step()  # once an epoch"),
        (5, BATCHES, "sched.step()  # once a batch, after opt.step()"),
        (5, {"settings": {"T_max": 40.0}}, "sched.step()  # once a batch, after opt.step()"),
        (25, {"settings": {"T_max": 40.0}}, "sched.step()  # once an epoch"),
        (5, {"settings": {"T_max": 5.0}}, "sched.step()  # once an epoch"),
    ],
)
def test_the_fix_steps_it_as_often_as_its_course_asks_for(history, epochs, changes, fix):
    (finding,) = found(history, epochs=epochs, **changes)
    assert finding.fix == fix


def test_the_fix_gives_one_that_watches_a_value_that_value(history):
    (finding,) = found(history, class_name="ReduceLROnPlateau", metric=True)
    assert finding.fix.startswith("sched.step(loss)")


def test_the_rate_that_a_next_step_would_have_is_no_step(history):
    history.group().rates([0.1] * 31).schedule(**NEVER)
    history.run.steps = 30
    (finding,) = scheduler_not_stepped(history.run)
    assert (finding.title.endswith("never stepped in 30 steps"), finding.evidence["optimizer steps"]) == (True, 30)
