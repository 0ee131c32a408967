"""This file tests who is called a straggler where the pace changes: who holds up the others, and nobody else."""

import sys
from pathlib import Path

import numpy as np
import pytest

from torchmagic.records.finding import Severity
from torchmagic.rules.judgement import judge

sys.path.insert(0, str(Path(__file__).parent))
from by_hand import PHASES, WAIT, Made

NAMES = tuple(PHASES)
LATE = 0.03


def unexpected(rule, error):
    raise AssertionError(f"{rule} raised") from error


def found(late, *, sampled=False, phase="data"):
    """Return what is said of ranks that are late by ``late[rank, step]`` seconds in a phase before the exchange."""
    num, steps = late.shape
    last = late.max(axis=0)
    made = Made(num, steps=steps)

    def row(rank, step):
        own = dict(PHASES)
        own[phase] += late[rank, step]
        own["backward"] += last[step] - late[rank, step]
        return tuple(own[name] for name in NAMES)

    told = [step for step in range(steps) if not sampled or step < 10 or (step + 1) % 100 == 0]
    made.series("seconds", row, NAMES)
    made.series(
        "sync_wait", lambda rank, step: (WAIT + last[step - 1] - late[rank, step - 1],), steps=[s + 1 for s in told]
    )
    return [finding for finding in judge(made.run, unexpected) if finding.rule == "straggler"]


def at_random(num, steps, share, *, seed=0):
    """Return how late each rank is where each is in its own random steps."""
    return np.where(np.random.default_rng(seed).random((num, steps)) < share, LATE, 0.0)


def only(rank, late):
    return np.where(np.arange(len(late))[:, None] == rank, late, 0.0)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("num", [2, 8])
def test_a_rank_that_is_late_in_random_steps_is_named(num, sampled):
    (finding,) = found(only(1, at_random(num, 200, 0.3)), sampled=sampled)
    assert finding.title.startswith("the other ranks wait for rank 1 ")
    assert "of the time: it is late in " in finding.title
    assert finding.title.endswith("% of the steps, by 30 ms")
    assert (finding.severity, finding.line) == (Severity.WARNING, 9)
    assert "when its data loading takes longer" in finding.why
    assert finding.evidence["for the next one"] == "0% of that"


def test_what_it_does_longer_in_its_slow_steps_is_told():
    (finding,) = found(only(0, at_random(4, 100, 0.4)), phase="other")
    assert "when its other code takes longer" in finding.why
    assert "logging" in finding.fix
    assert finding.line is None


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("num", [2, 4])
def test_ranks_that_take_turns_in_being_slow_are_none(num, sampled):
    turns = np.arange(600) % num
    assert found(np.where(np.arange(num)[:, None] == turns, LATE, 0.0), sampled=sampled) == []


@pytest.mark.parametrize("num", [2, 4])
def test_ranks_that_are_all_late_at_random_are_none(num):
    for seed in range(8):
        assert found(at_random(num, 120, 0.3, seed=seed)) == []
        assert found(np.random.default_rng(seed).exponential(0.01, (num, 120))) == []
        assert found(0.003 * np.random.default_rng(seed).pareto(1.2, (num, 120))) == []


def test_one_that_is_late_among_others_that_flutter_is_named_all_the_same():
    late = np.random.default_rng(3).exponential(0.003, (4, 200)) + only(2, at_random(4, 200, 0.4))
    (finding,) = found(late)
    assert "wait for rank 2 " in finding.title
    assert "it is late in " in finding.title


@pytest.mark.parametrize("slow", [slice(20, 52), slice(60, 160)])
def test_a_bad_minute_makes_no_straggler(slow):
    late = np.zeros((2, 200))
    late[1, slow] = LATE
    assert found(late) == []


def test_one_that_became_slow_and_stays_so_is_named():
    late = np.zeros((2, 200))
    late[1, 60:] = LATE
    (finding,) = found(late)
    assert "wait for rank 1 " in finding.title
    assert " of each step: its data loading takes" in finding.title


def test_one_that_was_slow_for_half_the_run_and_is_no_more_is_none():
    late = np.zeros((2, 200))
    late[1, 10:105] = LATE
    assert found(late) == []


def test_one_that_comes_last_by_a_little_where_another_one_does_by_much_is_none():
    late = np.zeros((2, 210))
    late[1, 10:115] = LATE
    late[1, 116::2], late[0, 115::2] = 0.001, 0.05
    assert found(late) == []


def test_a_few_steps_that_chance_may_explain_are_left_alone():
    late = only(1, np.full((2, 16), LATE))
    late[1, 11] = 0.0
    assert found(late) == []


def test_a_few_long_pauses_as_for_checkpoints_are_left_alone():
    late = np.zeros((2, 200))
    late[0, 19::20] = 0.2
    assert found(late) == []


def test_two_that_are_late_by_turns_are_not_one():
    late = at_random(8, 300, 0.4)
    late[2:] = 0.0
    assert found(late) == []
    late = only(1, at_random(8, 900, 0.4)) + only(2, at_random(8, 900, 0.3))
    assert found(late) == []  # the second one holds up three quarters as much


def test_little_is_left_alone_and_so_is_what_few_steps_say():
    assert found(only(1, at_random(2, 200, 0.3)) / 20) == []
    assert found(only(1, at_random(2, 36, 0.4))) == []
    (finding,) = found(only(1, at_random(2, 200, 0.3)) / 3)
    assert finding.severity is Severity.INFO


def test_one_that_is_late_in_most_steps_but_not_nearly_all_is_late_now_and_then():
    (finding,) = found(only(1, at_random(4, 200, 0.6)))
    assert "of the time: it is late in 57%" in finding.title


def test_a_short_wait_and_a_small_share_are_no_matter_however_steady():
    assert found(only(1, np.full((2, 60), 0.0015))) == []  # 13% of a step, which is short
    slow = only(1, np.full((2, 60), 0.004)) + 0.1
    assert found(slow) == []  # 4% of one that is long
    assert found(only(1, at_random(2, 200, 0.3)) + 0.2) == []  # and so it is now and then
    assert len(found(only(1, np.full((2, 60), 0.004)))) == 1


def test_three_steps_say_nothing_be_there_ever_so_many_ranks():
    assert found(only(1, np.full((16, 4), LATE))) == []


def test_the_steps_that_were_measured_have_to_agree_with_all_of_them():
    late = np.zeros((4, 600))
    late[0, 99::100] = LATE
    late[1:, 50:] = at_random(3, 550, 0.6)
    assert found(late, sampled=True) == []
