"""This file tests the rule on loops that wait for their data, on series written by hand."""

import pytest

from torchmagic.analyses.time_split import PHASES
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.data_bound import data_bound
from torchmagic.session.run import Run

MADE = Place(file="<cell>", line=2, source="train = DataLoader(data)")


def found(data, rest, *, steps=10, before=0.0, after=0.0):
    run = Run()
    run.steps = steps
    run.records.append(LoaderRecord(name="train", batch_size=8, num_workers=0, sampler="S", num_batches=4, made=MADE))
    for step in range(steps + 1):
        inside = step < steps
        row = {"data": data / steps * inside, "forward": rest / steps * inside}
        row["other"] = before if not step else after if not inside else 0.0
        run.frame("seconds", PHASES).append(step, [row.get(phase, 0.0) for phase in PHASES])
        run.frame("batch_wait", ("train",)).append(step, (data / steps,))
    return list(data_bound(run))


@pytest.mark.parametrize(("data", "rest", "told"), [(6.9, 3.1, 0), (7.1, 2.9, 1), (0.29, 0.0, 0), (0.31, 0.0, 1)])
def test_more_than_seventy_percent_and_three_tenths_of_a_second_are_told(data, rest, told):
    assert [(each.severity, each.line) for each in found(data, rest)] == [(Severity.INFO, 2)] * told


def test_what_comes_before_and_after_the_loop_does_not_count():
    assert len(found(1.0, 0.1, before=50.0, after=50.0)) == 1


def test_two_steps_are_no_loop():
    assert found(1.0, 0.1, steps=2) == []


def test_the_slowest_loader_is_named_among_several():
    run = Run()
    run.steps = 4
    for name, wait in (("quick", 0.01), ("train", 0.5)):
        run.records.append(
            LoaderRecord(
                name=name, batch_size=8, num_workers=0, sampler="S", num_batches=4, made=MADE if wait > 0.1 else None
            )
        )
        for step in range(4):
            run.frame("batch_wait", (name,)).append(step, (wait,))
    for step in range(4):
        run.frame("seconds", PHASES).append(step, [0.51 if phase == "data" else 0.0 for phase in PHASES])
    (finding,) = data_bound(run)
    assert (finding.line, "train" in finding.title) == (2, True)
