"""This file tests the rule on repeated copies, on records written by hand."""

import pytest

from torchmagic.records.speed import RepeatedCopyRecord
from torchmagic.rules.speed.repeated_host_device_copies import repeated_host_device_copies

LINE = "y = net(x + mask.to(device))"


def repeated(at, **changes):
    facts = {"device": "cuda:0", "back": False, "steps": 4, "copies": 5, "repeats": 4, "seconds": 0.02,
             "num_bytes": 4 << 20, "shape": (512, 512), "place": at(LINE)}  # fmt: skip
    return RepeatedCopyRecord(**facts | changes)


def test_the_line_its_cost_and_what_that_would_save_are_told(profiled, at):
    (found,) = repeated_host_device_copies(profiled.add(repeated(at)).written())
    assert (found.source, found.line) == (LINE, 7)
    assert found.title == (
        "what was copied to cuda:0 before, and has not changed, is copied again: "
        "it takes 5.0 ms a step (5% of the time); saves up to all of that"
    )
    assert (found.evidence["saves"], found.evidence["of these, again"]) == (0.05, 4)
    assert found.fix == 'x = x.to("cuda:0")  # once, before the loop'


@pytest.mark.parametrize(("seconds", "told"), [(0.0119, 0), (0.0121, 1)])
def test_from_three_percent_of_the_time_on_it_is_told(profiled, at, seconds, told):
    run = profiled.add(repeated(at, seconds=seconds)).written()
    assert len(list(repeated_host_device_copies(run))) == told


@pytest.mark.parametrize(("repeats", "told"), [(2, 0), (3, 1)])
def test_a_few_repeats_may_be_chance(profiled, at, repeats, told):
    assert len(list(repeated_host_device_copies(profiled.add(repeated(at, repeats=repeats)).written()))) == told


def test_a_result_that_is_fetched_several_times_is_told_the_other_way(profiled, at):
    (found,) = repeated_host_device_copies(profiled.add(repeated(at, back=True, shape=())).written())
    assert "fetched from cuda:0 before, and has not changed, is fetched again" in found.title
    assert found.evidence["shape of the last"] == "single value"
    assert ".item()  # once" in found.fix


def test_without_steps_all_copies_of_the_run_count(profiled, at):
    run = profiled.within(steps=0).add(repeated(at, steps=0, seconds=0.2)).written()
    assert next(repeated_host_device_copies(run)).evidence["saves"] == 0.2


def test_the_dearest_lines_come_first_and_not_all(profiled, at):
    profiled.add(*(repeated(at, seconds=seconds) for seconds in (0.02, 0.05, 0.03, 0.04)))
    found = [each.evidence["saves"] for each in repeated_host_device_copies(profiled.written())]
    assert found == [0.125, 0.1, 0.075]


def test_without_a_profile_nothing_is_told(profiled, at):
    assert not list(repeated_host_device_copies(profiled.add(repeated(at)).run))


@pytest.mark.parametrize(("share", "told"), [(0.25, 1), (0.26, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, at, share, told):
    run = profiled.within(steps=1).add(repeated(at, steps=1, seconds=0.25)).written()
    assert len(list(repeated_host_device_copies(run, min_share=share))) == told
