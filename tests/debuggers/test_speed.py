"""This file tests the speed: step times, the split of the time and what is left of a pass, from looks at a run."""

import pytest

from torchmagic.analyses.time_split import PHASES
from torchmagic.debuggers.speed import Speed
from torchmagic.probes.passes import Standing
from torchmagic.session.run import Run


class Told:
    """Tells what it was given as the standing of a pass."""

    def __init__(self):
        self.standing = None

    def look(self, _step):
        return self.standing


@pytest.fixture
def going():
    run, passes = Run(), Told()
    speed = Speed(run, passes)

    def to(seconds, steps, standing=None, cost=0.0, split=None):
        run.clock.seconds, run.steps, run.clock.cost = seconds, steps, cost
        passes.standing = standing
        if split is not None:
            run.frame("seconds", PHASES).append(steps, split)
        speed.look()
        return run.progress

    return to


def test_a_step_takes_what_steps_took_lately_and_an_evaluation_between_does_not_count(going):
    assert going(0.5, 1).seconds_per_step is None
    for i in range(1, 9):
        told = going(0.5 + 0.2 * i + (30.0 if i > 4 else 0.0), 1 + 4 * i)
    assert told.seconds_per_step == pytest.approx(0.05)


def test_what_is_left_of_a_pass_follows_from_its_batches(going):
    for i in range(1, 6):
        told = going(0.2 * i, 5 * i, Standing(10 * i, 100, 3))
    assert (told.batch, told.batches, told.epoch) == (50, 100, 3)
    assert told.seconds_left == pytest.approx(50 * 0.02)


@pytest.mark.parametrize("standing", [None, Standing(7, None, 1)])
def test_what_is_left_of_a_pass_of_unknown_length_is_not_told(going, standing):
    going(0.2, 1, standing)
    assert going(0.4, 2, standing).seconds_left is None


def test_the_shares_of_the_time_make_a_whole(going):
    going(1.0, 1)
    told = going(2.0, 2, cost=0.1, split=(0.1, 0.3, 0.4, 0.1, 0.1))
    assert told.shares["torchmagic"] == pytest.approx(0.1)
    assert told.shares["backward"] == pytest.approx(0.36)
    assert sum(told.shares.values()) == pytest.approx(1.0)


def test_without_timed_phases_there_are_no_shares(going):
    going(1.0, 1)
    assert going(2.0, 2).shares == {}
