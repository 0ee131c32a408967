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
    assert found.title == "waiting for train takes 40 ms a step (40% of the time); saves up to all of that"
    assert found.evidence["seconds in the profile"] == 0.4
    assert "num_workers=2" in found.fix


def test_with_workers_the_line_is_the_one_that_waits(profiled):
    run = profiled.phase(data=0.4).loader(0.4, workers=1).line("x = self.x[i]", function=GETTER, own=0.3).written()
    (found,) = slow_loading(run)
    assert found.source == "for x, y in train:"
    assert found.why.startswith("Its worker makes fewer batches")


def test_as_many_workers_as_cores_need_cheaper_samples_and_not_more_workers(profiled):
    (found,) = slow_loading(profiled.phase(data=0.4).loader(0.4, workers=2).written())
    assert found.fix == "cheaper samples: prepare them once before the training, and keep them in the dataset"
    assert found.why == (
        "Its 2 workers make fewer batches than are used up; the longest wait was 20 ms. "
        "There are no more cores for more workers."
    )


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
    fix = "for rows in torch.randperm(len(x)).split(batch_size): batch = x[rows]  # where all fits into one tensor"
    assert all(each.fix == fix for each in found)


@pytest.mark.parametrize(
    ("facts", "waited", "workers", "number", "saving"),
    [
        ({"cores": 8}, 0.4, 0, 2, 0.4),  # the rest of the step lasts longer than two workers need
        ({"cores": 8, "processor": 0.5}, 0.9, 0, 2, 0.55),  # two workers need half as long as one
        ({"cores": 2, "processor": 1.0}, 0.9, 0, 2, 0.5),  # two cores need half as long as one
        ({"cores": 8}, 0.4, 2, 4, 0.4),
        ({"cores": 8}, 0.8, 2, 4, 0.5),  # twice the workers make twice the batches
        ({"cores": 1, "processor": 1.0}, 0.9, 0, 0, 0.9),  # one core is no faster with workers: cheaper samples
        ({"cores": 2}, 0.4, 2, 0, 0.4),
        ({"cores": 2, "processor": 1.8}, 0.8, 1, 2, 0.5),  # what the cores do already has workers in it
    ],
)
def test_workers_save_what_the_rest_of_the_step_and_the_cores_can_hide(
    profiled, facts, *, waited, workers, number, saving
):
    run = profiled.within(**facts).phase(data=waited).loader(waited, workers=workers).written()
    (found,) = slow_loading(run)
    assert found.evidence["saves"] == pytest.approx(saving)
    assert (f"num_workers={number}," in found.fix) if number else "cheaper samples" in found.fix


def starting(**changes):
    facts = {"loader": "train", "workers": 2, "passes": 3, "seconds": 0.5, "first": 0.1, "run_seconds": 10.0}
    return WorkerStartRecord(persistent=False, place=None, **facts | changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [({}, 0.239), ({"loader": "test"}, 0.5), ({"passes": 1}, 0.5), ({"passes": 2}, 0.3), ({"seconds": 1.9}, 0.5)],
    ids=["of three passes", "of another loader", "of one pass", "of two passes", "longer than any wait"],
)
def test_the_waits_in_which_workers_were_started_are_taken_off(profiled, changes, told):
    run = profiled.phase(data=0.5).loader(0.5, workers=2, waits=(0.2, 0.061, 0.05)).add(starting(**changes)).written()
    assert next(slow_loading(run)).evidence["seconds in the profile"] == pytest.approx(told)


def test_without_a_loader_what_is_waited_for_is_called_data(profiled):
    run = profiled.phase(data=0.4).line("return self.x[i]", function=GETTER, own=0.3).add(starting()).written()
    (found,) = slow_loading(run)
    assert found.title.startswith("waiting for data takes 40 ms a step")
    assert (found.source, found.evidence["seconds of this line"]) == ("return self.x[i]", 0.3)
    assert found.why == "The process that trains makes the samples itself, and computes nothing meanwhile."
    assert "workers" not in found.evidence


def test_a_loader_without_workers_says_who_makes_the_samples(profiled):
    (found,) = slow_loading(profiled.phase(data=0.4).loader(0.4).written())
    assert found.why == "The process that trains makes the samples itself, and computes nothing meanwhile."
    assert found.evidence["workers"] == 0


def test_workers_are_counted_and_their_longest_wait_told(profiled):
    (found,) = slow_loading(profiled.within(cores=8).phase(data=0.4).loader(0.4, workers=2, waits=()).written())
    assert found.why == "Its 2 workers make fewer batches than are used up; the longest wait was 0.0 µs."


@pytest.mark.parametrize(("wait", "threshold"), [(0.0029, "30%"), (0.0031, "15%")])
def test_the_threshold_that_was_passed_is_told(profiled, wait, threshold):
    profiled.phase(data=0.31)
    profiled.loaders.append(LoaderCost(loader="train", workers=0, batches=100, waits=(), total=100 * wait))
    assert next(slow_loading(profiled.written())).evidence["threshold"] == f"{threshold} of the time"


def test_without_a_loader_and_a_line_the_wait_is_told_alone(profiled):
    (found,) = slow_loading(profiled.within(cores=8, processor=0.1).phase(data=0.9).written())
    assert (found.line, found.source) == (None, None)
    assert found.evidence["saves"] == pytest.approx(0.55)


@pytest.mark.parametrize(("share", "told"), [(0.5, 1), (0.51, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, share, told):
    assert len(list(slow_loading(profiled.phase(data=0.5).loader(0.5).written(), min_share=share))) == told


def test_waits_of_three_milliseconds_are_not_short(profiled):
    profiled.phase(data=0.2)
    profiled.loaders.append(LoaderCost(loader="train", workers=0, batches=1000, waits=(), total=3.0))
    assert "num_workers" in next(slow_loading(profiled.written())).fix


def test_a_wait_of_just_enough_of_a_start_was_one(profiled):
    starts = starting(passes=2, seconds=1.5, first=0.5)
    run = profiled.phase(data=0.5).loader(0.5, workers=2, waits=(0.3, 0.01)).add(starts).written()
    assert next(slow_loading(run)).evidence["seconds in the profile"] == pytest.approx(0.2)


@pytest.mark.parametrize(("processor", "number"), [(1.94, 2), (1.95, 0)])
def test_workers_have_to_save_three_percent(profiled, processor, number):
    (found,) = slow_loading(profiled.within(processor=processor).phase(data=0.4).loader(0.4).written())
    assert (f"num_workers={number}" in found.fix) == bool(number)
