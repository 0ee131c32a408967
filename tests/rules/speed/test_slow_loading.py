"""This file tests the rule on slow loading, on records written by hand."""

import pytest

from torchmagic.records.costs import LoaderCost
from torchmagic.records.speed import WorkerStartRecord
from torchmagic.rules.speed.slow_loading import slow_loading

GETTER = "__getitem__"


@pytest.mark.parametrize(("waited", "told"), [(0.149, 0), (0.151, 1)])
def test_from_a_seventh_of_the_time_on_it_is_told(profiled, waited, told):
    run = profiled.phase(data=waited).loader(waited).written()
    assert len(list(slow_loading(run))) == told


def test_the_line_is_the_datasets_slowest_one_and_the_cost_is_named(profiled):
    run = (
        profiled.phase(data=0.4)
        .loader(0.4)
        .line("x = self.x[i]", function=GETTER, own=0.05)
        .line("return augment(x)", function=GETTER, own=0.02, total=0.3)
        .line("time.sleep(0.001)", function="augment", own=0.28)
        .line("y = net(x)", own=0.5)
        .written()
    )
    (found,) = slow_loading(run)
    assert (found.source, found.line) == ("time.sleep(0.001)", 3)
    assert found.title == "waiting for train takes 40 ms a step (40% of the time)"
    assert found.evidence["seconds in the profile"] == 0.4
    assert "num_workers=2" in found.fix


def test_with_workers_the_line_is_the_one_that_waits(profiled):
    run = profiled.phase(data=0.4).loader(0.4, workers=1).line("x = self.x[i]", function=GETTER, own=0.3).written()
    (found,) = slow_loading(run)
    assert found.source == "for x, y in train:"
    assert "workers" in found.why


def test_as_many_workers_as_cores_need_cheaper_samples_and_not_more_workers(profiled):
    (found,) = slow_loading(profiled.phase(data=0.4).loader(0.4, workers=2).written())
    assert "num_workers" not in found.fix
    assert "no more cores" in found.why


def test_a_pass_that_does_not_train_is_silent(profiled):
    assert not list(slow_loading(profiled.phase(data=0.9, backward=0.0).loader(0.9).written()))


def test_the_slowest_of_several_loaders_is_named(profiled):
    run = profiled.phase(data=0.4).loader(0.1, name="test").loader(0.3).written()
    assert next(slow_loading(run)).title.startswith("waiting for train")


@pytest.mark.parametrize(("persistent", "told"), [(False, 0), (True, 1)])
def test_what_starting_workers_takes_is_left_to_its_own_rule(profiled, persistent, told):
    starts = WorkerStartRecord(
        loader="train", workers=2, passes=5, seconds=1.0, first=0.2, run_seconds=10.0, persistent=persistent, place=None
    )
    run = profiled.phase(data=0.5).loader(0.5, workers=2, waits=(0.2, 0.18, 0.02)).add(starts).written()
    assert len(list(slow_loading(run))) == told


@pytest.mark.parametrize(("waited", "told"), [(0.02, 0), (0.4, 0), (0.7, 1)])
def test_of_many_short_waits_workers_are_not_advised(profiled, waited, told):
    profiled.phase(data=waited).within(seconds=2.0)
    profiled.loaders.append(LoaderCost(loader="train", workers=0, batches=1000, waits=(), total=waited))
    found = list(slow_loading(profiled.written()))
    assert len(found) == told
    assert all("x[rows]" in each.fix and "num_workers" not in each.fix for each in found)
