"""This file tests the express: a run that goes by it is, to the last number, the run that listeners would have made."""

import sys
from collections import Counter
from types import SimpleNamespace

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn
from varied_training import EVENTS, Plan, Training

from torchmagic.debuggers import express, watching
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.debuggers.ways_of_calls import CallWays
from torchmagic.debuggers.ways_of_steps import StepWays
from torchmagic.probes.activations import MOST_WAITING, Activations, _Leaf
from torchmagic.probes.batches import Batches
from torchmagic.probes.cast import Cast
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.inputs import Inputs
from torchmagic.probes.learning_rates import LearningRates
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.rectifiers import Rectifiers
from torchmagic.probes.retained import Retained
from torchmagic.probes.validation import Validation
from torchmagic.records.note import EnvironmentRecord, FailureRecord
from torchmagic.session.session import Session

STEPS = 150
WAYS = {
    "root_begin": CallWays,
    "loss": CallWays,
    "backward_begin": CallWays,
    "step_begin": StepWays,
    "step_end": StepWays,
}
LEVELS = ("basic", "intermediate", "advanced")
# Every how many steps statistics are taken.
EVERY = {"expert": 2}
# Metrics of the machine.
TIMED = ("seconds", "rss_bytes", "free_bytes", "memory_bytes", "batch_wait", "epoch_start_seconds")

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")


def passing(one):
    """Return what is noted of forwards that no backward has followed yet."""
    first = one and one._first
    return one and (one.key, one.forwards, one.losses, one.trained, first and (first[0], first[2]), len(one._sums))


def shown(one):
    """Return what is noted of the outputs of innermost modules: in which mode, of which module, and how many values."""
    noted = [(mode, each.path, each.num_values) for mode, outputs in one._outputs.items() for each in outputs]
    copied = [(one._newest, leaf.path, copy.numel()) for leaf, copy in one._copies]
    return one._look.seen, one._newest, sorted([*noted, *copied])


# What probes that are not always there have noted.
BESIDES = {
    Activations: shown,
    Inputs: lambda each: (
        {name: (one.count, one.training) for name, one in each._calls.items()},
        each.losses,
        each._served,
    ),
    Validation: lambda each: (passing(each._current), [*map(passing, each._open.values())], each._served),
    LearningRates: lambda each: [(one.steps, one.used, one.told) for one in each._rates.values()],
    Retained: lambda each: (each.calls, each._due, each.next_site, each.next_look),
    Batches: lambda each: each.newest is None,
    Rectifiers: lambda each: (each.next, each._looks, list(each._shares)),
}


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
    besides = [notes(found[kind]) for kind, notes in BESIDES.items() if kind in found]
    return repr(
        (
            (watch.run.steps, watch._taps.listeners.step, nonfinite.births.step, found[DeviceAsserts].over),
            (cast.called and cast.called.name, cast.current and cast.current.name, cast.learned_at, cast.at_work.steps),
            (called, compared, backwards, memory.steps, memory.draws, memory.failed, loss, noted),
            (list(explosions.norms)[-3:], gradients.total, gradients.alarmed, gradients.inside is None),
            besides,
        )
    )


def watched(plan, level="basic", steps=STEPS):
    """Return the run of a training with looks at fixed steps, what was noted in each, what it saw, and its numbers."""
    chosen = Settings(save=False, level=level, every=EVERY.get(level, 20), anomaly="auto")
    watch, training, noted = Watch(chosen, session=Session()), Training(plan), []
    run = watch.start()
    try:
        training = Training(plan) if plan.begins_inside else training
        training.look = lambda: noted.append(state(watch))
        numbers = training.run(steps)
        return run, noted, training.seen, numbers
    finally:
        watch.stop()


def listened(plan, level="basic", steps=STEPS):
    """Return the same where all is told to listeners."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watching, "express_of", lambda *_, **__: None)
        return watched(plan, level, steps)


def told(run):
    """Return all that a run tells, but for times."""
    frames = {
        (each.metric, each.subjects): [(step, list(map(repr, values))) for step, values in each.rows()]
        for each in run.frames
        if each.metric not in TIMED
    }
    records = [repr(each) for each in run.records if not isinstance(each, EnvironmentRecord)]
    return {"steps": run.steps, "frames": frames, "records": records, "findings": list(map(repr, run.findings))}


def check(plan, level="basic", steps=STEPS):
    run, noted, seen, numbers = watched(plan, level, steps)
    wanted, noted_by_listeners, seen_with_them, same = listened(plan, level, steps)
    assert not run.of(FailureRecord)
    assert noted == noted_by_listeners
    assert told(run) == told(wanted)
    assert seen == seen_with_them
    assert all(each.isnan().any() or torch.equal(each, other) for each, other in zip(numbers, same, strict=True))


plans = st.builds(
    Plan,
    accumulate=st.sampled_from([1, 1, 1, 2]),
    begins_inside=st.sampled_from([False, False, True]),
    has_loader=st.booleans(),
    loss_is_module=st.booleans(),
    loss_inside=st.sampled_from([False, False, True]),
    rate_is_tensor=st.sampled_from([False, False, False, True]),
    **{event: st.sampled_from([0, 0, 0, 0, 7, 23, 70]) for event in EVENTS},
)


@settings(max_examples=25)
@given(plans, st.sampled_from([*LEVELS, "expert"]))
@example(Plan(), "basic")
@example(Plan(has_loader=True), "intermediate")
@example(Plan(loss_inside=True), "intermediate")
@example(Plan(evaluate=10, spike=33, clip=7), "basic")
@example(Plan(evaluate=10, spike=33, has_loader=True), "advanced")
@example(Plan(closure=40, second_backward=45), "basic")
@example(Plan(fails=20, shorter=11, built=17), "intermediate")
@example(Plan(graph=9, mode=13, scaled=50), "basic")
@example(Plan(mode=4, peeks=7, fails=3, trial=5), "expert")
@example(Plan(evaluate=5, shorter=3, nan=40, teacher=9), "expert")
def test_a_run_by_express_is_the_run_that_listeners_make(plan, level):
    check(plan, level)


@pytest.mark.parametrize(
    ("every", "level"), [(2, "basic"), (13, "basic"), (70, "basic"), (13, "intermediate"), (3, "expert")]
)
@pytest.mark.parametrize("event", EVENTS)
def test_what_happens_now_and_then_is_seen_as_ever(event, every, level):
    check(Plan(**{event: every}), level)


@pytest.mark.parametrize("level", LEVELS)
def test_what_comes_at_fixed_steps_comes_in_a_longer_run_too(level):
    check(Plan(has_loader=True), level, 300)


def test_batches_whose_gradients_add_up_are_seen_as_ever():
    check(Plan(accumulate=2))


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

    for name, owner in {**WAYS, "leaf": CallWays}.items():
        monkeypatch.setattr(owner, name, counting(name, getattr(owner, name)))
    return counts


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("plan", [Plan(), Plan(loss_is_module=False), Plan(has_loader=True)])
def test_most_steps_of_a_usual_loop_go_by_express(gone, plan, level):
    watched(plan, level, steps=600)
    enough = {"basic": 400, "intermediate": 350, "advanced": 250}[level]
    tried = gone["step_end", False]  # as memory is read each 20 ms, however many steps that is
    assert min(gone[name, True] + tried * (name == "step_end") for name in WAYS) > enough, gone


def test_outputs_go_by_express_where_they_are_looked_at_at_every_step(gone, monkeypatch):
    monkeypatch.setitem(EVERY, "expert", None)
    run, *_ = watched(Plan(), "expert", steps=200)
    assert gone["leaf", True] > 100 * 4
    assert len(run.series("activation_mean", module="model.body.0")[0]) == 200


def trained(layers, guided=False, batch=8):
    """Return the run of a training at expert, and whether any copy of an output had a graph."""
    torch.manual_seed(2)
    criterion, graphs = nn.MSELoss(), []
    model, teacher = nn.Sequential(*layers()), nn.Sequential(*layers()).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Watch(Settings(save=False, level="expert", anomaly="auto"), session=Session())
    run, x = watch.start(), torch.randn(batch, 6, dtype=model[0].weight.dtype)
    activations = next(each for each in watch._crew.probes if isinstance(each, Activations))
    try:
        for _ in range(40):
            optimizer.zero_grad()
            given = model(x)
            loss = criterion(given, teacher(x)) if guided else given.float().pow(2).mean()
            graphs += [copy.requires_grad for _, copy in activations._copies]
            loss.backward()
            optimizer.step()
    finally:
        watch.stop()
    return run, graphs


def in_place():
    return nn.Linear(6, 5), nn.ReLU(inplace=True), nn.BatchNorm1d(5), nn.Dropout(), nn.Tanh()


class Twice(nn.Module):
    """Gives what it is given, twice."""

    def forward(self, x):
        """Give a pair."""
        return x, x


class First(nn.Module):
    """Gives the first of what it is given, by its rows."""

    def forward(self, pair):
        """Give a sparse tensor."""
        return pair[0].to_sparse()


class Dense(nn.Module):
    """Gives a tensor as an ordinary one."""

    def forward(self, x):
        """Give a dense one."""
        return x.to_dense()


def odd():
    return nn.Linear(6, 5), Twice(), First(), Dense(), nn.Tanh()


def wide():
    return nn.Linear(6, 3000), nn.LayerNorm(3000), nn.Linear(3000, 3)


def half():
    return nn.Linear(6, 5, dtype=torch.bfloat16), nn.Sigmoid()


@pytest.mark.parametrize(
    ("layers", "chosen"),
    [
        (in_place, {}),
        (in_place, {"guided": True}),
        (wide, {}),
        (wide, {"batch": 64}),
        (half, {}),
        (odd, {}),
        (lambda: (nn.Linear(6, 5), *[nn.Tanh() for _ in range(30)]), {}),
    ],
)
def test_outputs_are_measured_as_listeners_measure_them(gone, layers, chosen, monkeypatch):
    monkeypatch.setattr(sys.modules[Activations.__module__], "MOST_WAITING", 300)
    run, graphs = trained(layers, **chosen)
    went = gone["leaf", True]
    monkeypatch.setattr(watching, "express_of", lambda *_, **__: None)
    wanted, _ = trained(layers, **chosen)
    assert not run.of(FailureRecord)
    paced = ("activation_headroom", "activation_subnormal_share")  # another probe's, at the pace of a budget
    measured = [each for each in told(run)["frames"] if each[0].startswith("activation_") and each[0] not in paced]
    assert len(measured) >= 5
    assert {key: told(run)["frames"][key] for key in measured} == {key: told(wanted)["frames"][key] for key in measured}
    assert not any(graphs)
    assert (went > 0) is (layers is not half)


def test_no_more_than_so_many_values_wait():
    taps, output = SimpleNamespace(stack=[nn.Linear(2, 2)]), torch.zeros(1 << 14)
    activations = Activations(None, taps, SimpleNamespace(want=lambda *_, **__: None), None)
    module = nn.Tanh()
    activations._known[id(module)] = _Leaf(module, "tanh")
    activations._look.switch(on=True)
    for _ in range(40):
        assert activations.sees_shortly(module, output)
        assert sum(copy.numel() for _, copy in activations._copies) <= MOST_WAITING


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
        memory = next(each for each in watch._crew.probes if isinstance(each, Nonfinite)).memory
        assert (memory.raw_calls, memory.raw_losses, memory.raw_backwards) == ([], [], [])
    finally:
        watch.stop()
