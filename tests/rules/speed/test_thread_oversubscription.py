"""This file tests the rule on more threads than cores, on records written by hand."""

import pytest

from torchmagic.rules.speed.thread_oversubscription import thread_oversubscription


def found(profiled, *, thresholds=None, **facts):
    run = profiled.within(**{"threads": 8, "processor": 0.6} | facts).written()
    return list(thread_oversubscription(run, **thresholds or {}))


def test_the_wait_for_a_core_is_told(profiled):
    (one,) = found(profiled)
    told = "8 threads share 2 cores: waiting for one takes 35 ms a step (35% of the time)"
    assert one.title == f"{told}; saves up to all of that"
    assert "set_num_threads(2)" in one.fix


def test_workers_take_cores_too(profiled):
    (one,) = found(profiled.loader(0.01, workers=2), threads=3, cores=4)
    assert one.title.startswith("3 threads and 2 workers share 4 cores")
    assert "set_num_threads(2)" in one.fix


@pytest.mark.parametrize(
    "facts",
    [{"threads": 2}, {"processor": 0.85}, {"processor": 0.0}, {"device": "cuda"}, {"threads": 1, "cores": 1}],
    ids=str,
)
def test_threads_that_fit_or_do_not_wait_are_silent(profiled, facts):
    assert not found(profiled, **facts)


def test_waiting_for_data_is_no_waiting_for_a_core(profiled):
    assert not found(profiled.phase(data=0.35))


def test_idling_is_no_waiting_for_a_core(profiled):
    assert not found(profiled.phase(idle=0.3))


def test_one_thread_beside_many_workers_is_not_advised_to_be_fewer(profiled):
    assert not found(profiled.loader(0.01, workers=3), threads=1, cores=2)


def test_workers_that_take_all_cores_leave_one_thread(profiled):
    (one,) = found(profiled.loader(0.01, workers=1), threads=2, cores=1)
    assert one.title.startswith("2 threads and 1 worker share 1 core: waiting for one takes")
    assert "set_num_threads(1)" in one.fix


@pytest.mark.parametrize(("share", "told"), [(0.25, 1), (0.26, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, share, told):
    assert len(found(profiled.phase(data=0.25, idle=0.0), processor=0.5, thresholds={"min_share": share})) == told
