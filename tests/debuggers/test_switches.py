"""This file tests switches: their names, what they decide for runs to come, and a run that changes while it goes on."""

import gc
import weakref
from contextlib import contextmanager

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.debuggers.settings import PROBES, Level, Settings
from torchmagic.debuggers.switches import Switches, probe_named
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.activations import Activations
from torchmagic.probes.gradients import Gradients
from torchmagic.records.note import FailureRecord, NoteRecord
from torchmagic.session.session import Session


def batches(num_steps):
    """Give the batches of a small healthy training, and take each step when the next one is asked for."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    x = torch.randn(8 * num_steps, 4)
    for step, (inputs, targets) in enumerate(DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=8)):
        yield step
        opt.zero_grad()
        functional.cross_entropy(net(inputs), targets).backward()
        opt.step()


@contextmanager
def followed(**settings):
    """Watch what runs inside; give the watch and the switches that it follows."""
    mine = Switches()
    watching = Watch(Settings(save=False, every=1, **settings), session=Session())
    mine.follow(watching)
    watching.start()
    try:
        yield watching, mine
    finally:
        watching.stop()


def changed(orders, *, num_steps=24, **settings):
    """Train, and before some steps call on switches that the run follows; return the run and the watch."""
    with followed(**settings) as (watching, mine):
        for step in batches(num_steps):
            if step in orders:
                orders[step](mine)
    assert not watching.run.of(FailureRecord)
    return watching.run, watching


def steps_of(run, metric):
    """Return the steps at which a metric has values for a parameter or module."""
    return sorted({step for frame in run.frames if frame.metric == metric and frame.subjects != ("",)
                   for step in frame.column(frame.subjects[0])[0]})  # fmt: skip


@pytest.mark.parametrize(
    ("name", "probe"),
    [
        ("early_stopping", "early-stopping"),
        ("debug_mixed_precision", "mixed-precision"),
        ("learning_rate", "lr"),
        ("debug_lr_scheduling", "lr"),
        ("gradient_norms", "gradients"),
        ("enable_autograd_anomaly", "anomaly"),
        ("enable_autograd_profiler", "performance"),
        ("debug_memory_usage", "memory"),
        ("debug_data_loading", "data"),
        ("debug_device_placement", "device"),
        ("debug_forward_pass", "forward"),
        ("debug_backward_pass", "backward"),
        ("validation", "validation"),
        ("Activation", "activations"),
    ],
)
def test_a_probe_has_the_names_of_the_first_sketches_too(name, probe):
    assert probe_named(name) == probe


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("memori", "memory"), ("gradient_norm", "gradients"), ("lr_sched", "lr")]
)
def test_a_wrong_name_is_one_line_that_names_the_nearest_and_switches_nothing(wrong, nearest):
    mine = Switches()
    with pytest.raises(ValueError, match=f"did you mean '{nearest}'") as caught:
        mine.enable("data", wrong)
    assert "\n" not in str(caught.value)
    assert mine.values() == {}


def test_nothing_switched_decides_nothing():
    assert Switches().values() == {}


def test_the_last_word_about_a_probe_counts():
    mine = Switches()
    mine.disable("memory", "data")
    mine.enable("memory")
    assert mine.values() == {"also": ("memory",), "without": ("data",)}
    status = mine.status()
    assert (status["memory"], status["data"], tuple(status)) == (True, False, PROBES)


def test_without_a_name_all_are_switched():
    mine = Switches()
    mine.disable()
    assert not any(mine.status().values())
    mine.enable()
    assert all(mine.status().values())


def test_switches_stand_over_the_configuration():
    mine = Switches()
    mine.enable("memory")
    mine.set_level("basic")
    over = mine.over({"without": "memory, data", "level": "expert", "budget": 2.0})
    assert over == {"without": ("data",), "level": Level.BASIC, "budget": 2.0, "also": ("memory",)}


def test_a_wrong_level_is_refused():
    with pytest.raises(ValueError, match="did you mean 'basic'"):
        Switches().set_level("basik")


def test_also_adds_to_a_level_and_without_has_the_last_word():
    settings = Settings(level="basic", also=("memory", "data"), without=("data",))
    assert (settings.watches("memory"), settings.watches("data"), settings.watches("lr")) == (True, False, False)
    assert Settings(only=("lr",), also=("data",)).watches("data")


def test_a_run_goes_on_without_a_probe_and_with_it_again():
    run, _ = changed({5: lambda each: each.disable("gradients"), 15: lambda each: each.enable("gradients")})
    assert steps_of(run, "grad_norm") == [*range(6), *range(16, 24)]
    assert [note.text for note in run.of(NoteRecord)] == [
        "From step 6 on: without gradients.",
        "From step 16 on: with gradients.",
    ]


def test_a_probe_switched_on_late_knows_the_models_and_optimizers_found_before():
    run, _ = changed({9: lambda each: each.enable("weights", "activations", "data")}, level="basic")
    assert steps_of(run, "weight_norm") == list(range(10, 24))
    assert steps_of(run, "activation_std")[0] == 10
    assert run.subjects("batch_wait")


def test_what_stays_stays_the_same_probe_and_what_goes_is_let_go():
    with followed() as (watching, mine):
        steps = batches(8)
        next(steps)
        next(steps)
        before = {type(each): each for each in watching._crew.probes}
        gone = weakref.ref(before[Activations])
        mine.disable("activations")
        next(steps)
        after = {type(each): each for each in watching._crew.probes}
        assert after[Gradients] is before[Gradients]
        assert Activations not in after
        before.clear()
        mine.disable("data")  # the parts of the assembly before last are forgotten
        next(steps)
        gc.collect()
        assert gone() is None


def test_probes_hear_in_the_order_of_the_assembly_after_a_change():
    def heard(watching):
        watching._taps.listeners.wake(everybody=True)
        return [type(each.__self__).__name__ for each in watching._taps.listeners.awake["step_begin"]]

    with followed() as (steady, _):
        wanted = heard(steady)
    with followed() as (watching, mine):
        for step in batches(8):
            if step == 1:
                mine.disable("gradients", "weights", "anomaly")
            if step == 3:
                assert "Gradients" not in heard(watching)
                mine.enable("gradients", "weights", "anomaly")
        assert heard(watching) == wanted


def test_the_level_changes_while_a_run_goes_on():
    run, watching = changed(
        {5: lambda each: each.set_level("basic"), 15: lambda each: each.set_level("expert")}, level="advanced"
    )
    assert watching.settings.level is Level.EXPERT
    assert set(range(6, 16)).isdisjoint(steps_of(run, "weight_norm"))
    assert "level basic; without weights" in run.of(NoteRecord)[0].text


def test_a_healthy_run_is_not_accused_because_it_was_switched():
    run, _ = changed({7: lambda each: each.disable(), 13: lambda each: each.enable()})
    assert [each.rule for each in run.findings if each.severity != "info"] == []


def test_the_status_is_that_of_the_run_that_goes_on():
    with followed(level="basic") as (watching, mine):
        assert not mine.status()["memory"]
        mine.enable("memory")
        mine.leave(watching)
    assert watching.wanted.watches("memory")
