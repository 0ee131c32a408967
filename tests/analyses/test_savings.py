"""This file tests the savings: that they are bounded by what was measured, and told only where something was."""

import pytest

from torchmagic.analyses.profile_costs import Profile
from torchmagic.analyses.savings import gained, gained_by_model, saved, saved_of_run, saves, saves_of_run
from torchmagic.analyses.verified import Tried
from torchmagic.records.costs import CostsRecord, ModuleCost
from torchmagic.records.profile import ProfileRecord
from torchmagic.records.speed import VerifiedRecord


def profile(device="cpu", modules=()):
    window = ProfileRecord(
        first_step=2, steps=10, waited=0, warmed=2, seconds=2.0, busy=1.0, processor=1.0, events=9, device=device
    )
    return Profile(window, {}, CostsRecord(modules=modules), ())


def tried(before=0.1, after=0.05):
    record = VerifiedRecord(
        cure="compile", subject="net", what="forward", trials=9, before=before, after=after, spread=0.0
    )
    return Tried(record, 1 - after / before, 0.0)


@pytest.mark.parametrize(
    ("seconds", "cost", "words"),
    [
        (0.5, 1.0, "; saves up to 50 ms a step (25% of the time)"),
        (0.95, 1.0, "; saves up to all of that"),
        (1.0, 1.0, "; saves up to all of that"),
        (1.5, 1.0, "; saves up to 150 ms a step (75% of the time)"),
        (None, 1.0, ""),
    ],
)
def test_a_title_ends_with_what_is_saved_at_the_most(seconds, cost, words):
    assert saved(profile(), seconds, cost=cost) == words


def test_the_evidence_has_seconds_and_their_share_or_nothing():
    assert saves(profile(), 0.5) == {"saves": 0.5, "saves, as a share": "25.0%"}
    assert saves(profile(), None) == {}


def test_of_a_run_the_share_is_that_of_the_run():
    assert saved_of_run(1.5, 10.0) == "; saves up to 1.5 s (15% of the run)"
    assert saves_of_run(1.5, 10.0) == {"saves": 1.5, "saves, as a share": "15.0%"}
    assert saves_of_run(1.5, 0.0)["saves, as a share"] == "100.0%"


def test_the_profiler_slows_operators_so_that_the_lesser_figure_counts():
    assert gained(profile(), tried(), 1.0, times=10) == pytest.approx(0.5)  # both
    assert gained(profile(), tried(), 1.8, times=10) == pytest.approx(0.5)  # ten times 50 ms
    assert gained(profile(), tried(), 0.4, times=10) == pytest.approx(0.2)  # half of what it took
    assert gained(profile(), tried(), 9.0, times=1000) == pytest.approx(1.0)  # half of the window
    assert gained(profile(), tried(after=0.2), 1.0, times=10) == 0.0
    assert gained(profile(), None, 1.0, times=10) is None


def test_a_model_saves_of_its_own_time_or_on_an_accelerator_of_the_window():
    root = ModuleCost(model="net", path="", class_name="Net", calls=100, forward=0.2, forward_own=0.1, backward=0.2)
    inner = ModuleCost(model="net", path="0", class_name="Linear", calls=100, forward=0.1, forward_own=0.1)
    assert gained_by_model(profile(modules=(inner, root)), tried(), "net") == pytest.approx(0.2)
    assert gained_by_model(profile("cuda", (root,)), tried(), "net") == pytest.approx(1.0)
    assert gained_by_model(profile(modules=(inner,)), tried(), "net") is None
