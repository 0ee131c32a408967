"""This file tests the express: a run that goes by it is, to the last number, the run that listeners would have made."""

import sys
from collections import Counter

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from varied_training import EVENTS, Plan, Training

from torchmagic.debuggers import express, watching
from torchmagic.debuggers.express import Express
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.cast import Cast
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.records.note import EnvironmentRecord, FailureRecord
from torchmagic.session.session import Session

STEPS = 150
WAYS = ("_root", "_loss", "_backward", "_step_begins", "_step_ends")
# Metrics of the machine.
TIMED = ("seconds", "rss_bytes", "free_bytes", "memory_bytes")

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")


def state(watch):
    """Return what the probes have noted of a step so far."""
    found = {type(each): each for each in watch._crew.probes}
    cast, nonfinite, gradients = found[Cast], found[Nonfinite], found[Gradients]
    memory, explosions = nonfinite.memory, nonfinite.weights.explosions
    called = [
        (model.name, [each.sum().item() for each in args], code.co_name, lasti, None if state is None else state.sum())
        for _, model, args, _, _, code, lasti, _, state, _ in memory.raw_calls
    ]
    compared = [(name, code.co_name, lasti, given() is None) for name, code, lasti, given, *_ in memory.raw_losses]
    backwards = [(code.co_name, lasti, before) for code, lasti, before in memory.raw_backwards]
    noted = [
        (each.names, each.last_step, explosions.rates.get(id(each.ref())))
        for each in cast.at_work.members
        if each.ref()
    ]
    loss = nonfinite.loss() if nonfinite.loss is not None else None
    return repr(
        (
            (watch.run.steps, watch._taps.listeners.step, nonfinite.births.step, found[DeviceAsserts].over),
            (cast.called and cast.called.name, cast.current and cast.current.name, cast.learned_at, cast.at_work.steps),
            (called, compared, backwards, memory.steps, memory.draws, memory.failed, loss, noted),
            (list(explosions.norms)[-3:], gradients.total, gradients.alarmed, gradients.inside is None),
        )
    )


def watched(plan, level="basic", steps=STEPS):
    """Return the run of a training with looks at fixed steps, what was noted in each, what it saw, and its numbers."""
    watch, training, noted = Watch(Settings(save=False, level=level, every=16), session=Session()), Training(plan), []
    run = watch.start()
    try:
        training = Training(plan) if plan.begins_inside else training
        training.look = lambda: noted.append(state(watch))
        numbers = training.run(steps)
        return run, noted, training.seen, numbers
    finally:
        watch.stop()


def listened(plan, level="basic"):
    """Return the same where all is told to listeners."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watching, "express_of", lambda *_, **__: None)
        return watched(plan, level)


def told(run):
    """Return all that a run tells, but for times."""
    frames = {
        (each.metric, each.subjects): [(step, list(map(repr, values))) for step, values in each.rows()]
        for each in run.frames
        if each.metric not in TIMED
    }
    records = [repr(each) for each in run.records if not isinstance(each, EnvironmentRecord)]
    return {"steps": run.steps, "frames": frames, "records": records, "findings": list(map(repr, run.findings))}


def check(plan, level="basic"):
    run, noted, seen, numbers = watched(plan, level)
    wanted, noted_by_listeners, seen_with_them, same = listened(plan, level)
    assert not run.of(FailureRecord)
    assert noted == noted_by_listeners
    assert told(run) == told(wanted)
    assert seen == seen_with_them
    assert all(each.isnan().any() or torch.equal(each, other) for each, other in zip(numbers, same, strict=True))


plans = st.builds(
    Plan,
    accumulate=st.sampled_from([1, 1, 1, 2]),
    begins_inside=st.sampled_from([False, False, True]),
    loss_is_module=st.booleans(),
    rate_is_tensor=st.sampled_from([False, False, False, True]),
    **{event: st.sampled_from([0, 0, 0, 0, 7, 23, 70]) for event in EVENTS},
)


@settings(max_examples=15)
@given(plans)
@example(Plan())
@example(Plan(evaluate=10, spike=33, clip=7))
@example(Plan(closure=40, second_backward=45))
@example(Plan(fails=20, shorter=11, built=17))
@example(Plan(graph=9, mode=13, scaled=50))
def test_a_run_by_express_is_the_run_that_listeners_make(plan):
    check(plan)


@pytest.mark.parametrize("every", [2, 13, 70])
@pytest.mark.parametrize("event", EVENTS)
def test_what_happens_now_and_then_is_seen_as_ever(event, every):
    check(Plan(**{event: every}))


def test_batches_whose_gradients_add_up_are_seen_as_ever():
    check(Plan(accumulate=2))


@pytest.mark.parametrize("level", ["intermediate", "advanced"])
def test_a_run_of_a_higher_level_is_the_same_too(level):
    check(Plan(evaluate=40, spike=33), level)


@pytest.fixture
def gone(monkeypatch):
    """Count how often each way was gone, and how often not."""
    counts = Counter()

    def counting(name, way):
        def counted(self, *arguments):
            done = way(self, *arguments)
            counts[name, done] += 1
            return done

        return counted

    for name in WAYS:
        monkeypatch.setattr(Express, name, counting(name, getattr(Express, name)))
    return counts


@pytest.mark.parametrize("loss_is_module", [True, False])
def test_most_steps_of_a_usual_loop_go_by_express(gone, loss_is_module):
    watched(Plan(loss_is_module=loss_is_module), steps=600)
    assert min(gone[name, True] for name in WAYS) > 400, gone


def test_one_that_fails_is_off_and_said_and_listeners_go_on(monkeypatch):
    def broken(*_):
        raise LookupError("no such thing")

    monkeypatch.setattr(Gradients, "begins_shortly", broken)
    with pytest.warns(RuntimeWarning, match="Express failed and is off"):
        run, *_ = watched(Plan())
    assert [each.probe for each in run.of(FailureRecord)] == ["Express"]
    assert told(run)["frames"] == told(listened(Plan())[0])["frames"]


def test_who_is_told_of_each_step_may_fail_once_and_no_step_counts_twice():
    told_of = []

    def on_step(run):
        told_of.append(run.steps)
        if sys._getframe(1).f_code.co_filename == express.__file__:
            raise LookupError("no such thing")

    watch, training = Watch(Settings(save=False, level="basic"), session=Session(), on_step=on_step), Training(Plan())
    run = watch.start()
    try:
        with pytest.warns(RuntimeWarning, match="Watch failed"):
            training.run(STEPS)
    finally:
        watch.stop()
    assert told_of == list(range(1, told_of[-1] + 1))
    assert run.steps == STEPS
    assert [each.error for each in run.of(FailureRecord)] == ["LookupError: no such thing"]


def test_what_was_given_in_a_step_is_let_go_of_at_its_end():
    watch, training = Watch(Settings(save=False, level="basic"), session=Session()), Training(Plan())
    watch.start()
    try:
        training.run(120)
        memory = watch._express._memory
        assert (memory.raw_calls, memory.raw_losses, memory.raw_backwards) == ([], [], [])
    finally:
        watch.stop()
