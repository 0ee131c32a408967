"""A training debugger counts the steps that are not sound, is silent on sound trainings, and changes nothing."""

import gc
import json
import math
import random
import weakref

import pytest
import torch
from torch import nn

from torchmagic.api.debugging.modes import DebugLevel
from torchmagic.api.debugging.step_gradients import MOST_STATISTICS
from torchmagic.api.debugging.training_debugger import TrainingDebugger

LEVELS = tuple(DebugLevel)
KEYS = {
    *("total_steps", "anomaly_steps", "gradient_explosions", "gradient_vanishing", "loss_anomalies"),
    *("anomaly_rate", "loss_anomaly_rate", "gradient_explosion_rate", "gradient_vanishing_rate"),
}


def network(*, width=8, depth=2, activation=nn.Tanh, normalised=False):
    torch.manual_seed(0)
    layers = [nn.Linear(4, width), activation()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), *([nn.BatchNorm1d(width)] if normalised else []), activation()]
    return nn.Sequential(*layers, nn.Dropout(0.1), nn.Linear(width, 1))


def trained(model, debugger, *, steps=60, lr=0.05, reduction="mean", batch=32, change=None):
    """Train on a line, and return the losses; ``change(step, inputs, targets)`` may spoil a step."""
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    weights = torch.randn(4, 1)
    losses = []
    for step in range(steps):
        inputs = torch.randn(batch, 4)
        targets = inputs @ weights + 0.1 * torch.randn(batch, 1)
        if change is not None:
            inputs, targets = change(step, inputs, targets)
        loss = nn.functional.mse_loss(model(inputs), targets, reduction=reduction)
        optimizer.zero_grad()
        loss.backward()
        if debugger is not None:
            debugger.monitor_training_step(model, loss, step)
        optimizer.step()
        losses.append(loss.item())
    return losses


SOUND = {
    "small": (network, {}),
    "normalised, whose biases get no gradient": (lambda: network(normalised=True), {}),
    "relu": (lambda: network(activation=nn.ReLU, depth=4), {}),
    "half of the layers frozen": (lambda: frozen(network(depth=4)), {}),
    "noisy batches of two": (network, {"batch": 2, "lr": 0.02, "steps": 200}),
    "summed loss": (network, {"reduction": "sum", "lr": 1e-4, "batch": 256}),
    "summed over very many": (network, {"reduction": "sum", "lr": 1e-6, "batch": 20_000, "steps": 40}),
    "until it has converged": (lambda: nn.Sequential(nn.Linear(4, 1)), {"steps": 300, "lr": 0.2}),
    "bfloat16": (lambda: network().bfloat16(), {"change": lambda _, x, y: (x.bfloat16(), y.bfloat16())}),
    "double": (lambda: network().double(), {"change": lambda _, x, y: (x.double(), y.double())}),
}


def frozen(model):
    for layer in list(model)[: len(model) // 2]:
        layer.requires_grad_(requires_grad=False)
    return model


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("level", ["basic", "advanced"])
def test_sound_trainings_have_no_anomaly(name, level):
    make, settings = SOUND[name]
    debugger = TrainingDebugger(level)
    trained(make(), debugger, **settings)
    told = [line for entry in debugger.debug_history for line in entry["anomalies"]]
    assert told == []
    assert debugger.get_training_summary()["anomaly_rate"] == 0


def test_the_gradient_norm_is_the_one_that_clipping_sees():
    for level in LEVELS:
        model = network()
        model(torch.randn(8, 4)).sum().backward()
        info = TrainingDebugger(level).monitor_training_step(model, 1.0, 0)
        wanted = nn.utils.clip_grad_norm_(model.parameters(), math.inf).item()
        assert info["gradient_norm"] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_a_batch_that_is_not_a_number_is_an_anomaly_of_loss_and_gradients(level):
    debugger = TrainingDebugger(level)
    trained(network(), debugger, steps=10, change=lambda step, x, y: (x, y * math.nan) if step == 7 else (x, y))
    summary = debugger.get_training_summary()
    assert summary["total_steps"] == 10
    assert summary["anomaly_steps"] == 3  # the weights stay broken
    assert (summary["loss_anomalies"], summary["gradient_explosions"]) == (3, 3)
    entry = debugger.debug_history[7]
    assert entry["has_nan"]
    assert not entry["has_inf"]
    assert entry["anomalies"][0] == "the loss is NaN"
    assert "gradients are not finite" in entry["anomalies"][1]
    assert "0.weight" in entry["exploded"]


def test_a_loss_that_jumps_is_an_anomaly():
    debugger = TrainingDebugger()
    trained(network(), debugger, lr=0.01, change=lambda step, x, y: (x, y + 100) if step == 40 else (x, y))
    odd = [entry for entry in debugger.debug_history if entry["is_anomaly"]]
    assert odd[0]["step"] == 40
    assert odd[0]["anomalies"][0].startswith("the loss jumps to 1")
    assert debugger.get_training_summary()["loss_anomalies"] == len(odd) == 1


def test_gradients_that_explode_are_counted():
    debugger = TrainingDebugger("advanced")
    trained(network(activation=nn.Identity, depth=4), debugger, steps=30, lr=0.9)
    summary = debugger.get_training_summary()
    assert summary["gradient_explosions"] > 0
    first = next(entry for entry in debugger.debug_history if entry["is_anomaly"])
    assert first["exploded"]
    assert "explode" in first["anomalies"][0] or "not finite" in first["anomalies"][0]


def test_gradients_that_vanish_in_a_deep_chain_are_counted():
    debugger = TrainingDebugger(DebugLevel.ADVANCED)
    trained(network(activation=nn.Sigmoid, depth=24), debugger, steps=10, lr=1e-3)
    summary = debugger.get_training_summary()
    assert summary["gradient_vanishing"] == 10
    assert summary["gradient_vanishing_rate"] == 1
    assert "0.weight" in debugger.debug_history[0]["vanished"]


def test_gradients_that_are_all_zero_are_counted_unless_the_loss_is():
    model = network()
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    debugger = TrainingDebugger("advanced")
    assert debugger.monitor_training_step(model, 2.0, 0)["is_anomaly"]
    assert not TrainingDebugger("advanced").monitor_training_step(model, 0.0, 0)["is_anomaly"]


def test_thresholds_that_are_asked_for_hold_absolutely():
    model = network()
    model(torch.randn(8, 4)).sum().backward()
    debugger = TrainingDebugger("advanced", explosion_threshold=1e-3, vanishing_threshold=1e-9)
    info = debugger.monitor_training_step(model, 1.0, 0)
    assert info["anomalies"][0].startswith("gradients explode: norm ")
    assert debugger.get_training_summary()["gradient_explosions"] == 1
    debugger = TrainingDebugger("advanced", vanishing_threshold=1e6)
    assert debugger.monitor_training_step(model, 1.0, 0)["vanished"]
    assert debugger.get_training_summary()["gradient_vanishing"] == 1


def test_levels_tell_as_much_as_they_promise():
    model = network()
    model(torch.randn(8, 4)).sum().backward()
    keys = {level: set(TrainingDebugger(level).monitor_training_step(model, 1.0, 0)) for level in LEVELS}
    assert keys[DebugLevel.BASIC] == keys[DebugLevel.INTERMEDIATE]
    more = {"gradients", "nonfinite_parameters", "memory", "gpu_memory", "memory_trend"}
    assert keys[DebugLevel.ADVANCED] - keys[DebugLevel.BASIC] == more
    for level in (DebugLevel.EXPERT, DebugLevel.EXTREME):
        assert keys[level] - keys[DebugLevel.BASIC] == {*more, "context"}
    debugger = TrainingDebugger(DebugLevel.EXTREME)
    info = debugger.monitor_training_step(model, 1.0, 5)
    assert debugger.tensor_history == [(5, info["gradients"])]
    assert "gradients" not in debugger.debug_history[0]


def test_an_anomaly_comes_with_its_context_at_level_extreme():
    debugger = TrainingDebugger("extreme")
    trained(network(), debugger, steps=8, change=lambda step, x, y: (x, y * math.nan) if step == 7 else (x, y))
    assert debugger.debug_history[6]["context"] == {}
    context = debugger.debug_history[7]["context"]
    assert context["losses"] == [entry["loss"] for entry in debugger.debug_history[:7]]
    assert len(context["largest_gradients"]) == 5
    assert all(math.isnan(norm) for norm in context["largest_gradients"].values())


def test_a_model_without_shapes_yet_is_looked_at():
    info = TrainingDebugger("extreme").monitor_training_step(nn.LazyLinear(2), 1.0, 0)
    assert (info["gradient_norm"], info["gradients"]) == (0, {})


def test_parameters_that_are_not_finite_are_named_from_level_advanced_on():
    model = network()
    with torch.no_grad():
        model[0].weight[0, 0] = math.inf
    info = TrainingDebugger("advanced").monitor_training_step(model, 1.0, 0)
    assert info["nonfinite_parameters"] == ["0.weight"]


def test_the_summary_has_every_rate_of_the_document():
    debugger = TrainingDebugger()
    assert set(debugger.get_training_summary()) == KEYS
    assert all(value == 0 for value in debugger.get_training_summary().values())
    for step in range(8):
        debugger.monitor_training_step(network(), math.nan if step in (2, 5) else 1.0, step)
    summary = debugger.get_training_summary()
    assert (summary["total_steps"], summary["anomaly_steps"], summary["loss_anomalies"]) == (8, 2, 2)
    assert (summary["anomaly_rate"], summary["loss_anomaly_rate"]) == (0.25, 0.25)
    short = debugger.get_debug_summary()
    assert (short["total_anomalies"], short["debug_history_length"]) == (2, 8)
    json.dumps(short)


def test_clearing_starts_the_counts_anew():
    debugger = TrainingDebugger("extreme")
    debugger.monitor_training_step(network(), math.nan, 0)
    debugger.clear_debug_history()
    assert (debugger.debug_history, debugger.tensor_history) == ([], [])
    assert debugger.get_debug_summary()["total_anomalies"] == 0
    assert debugger.get_training_summary()["total_steps"] == 0


def test_histories_are_bounded():
    debugger = TrainingDebugger("extreme", max_history=10)
    model = nn.ModuleList([nn.Linear(1, 1, bias=False) for _ in range(100)])
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    for step in range(250):
        debugger.monitor_training_step(model, 1.0, step)
    assert [entry["step"] for entry in debugger.debug_history] == list(range(240, 250))
    assert debugger.get_training_summary()["total_steps"] == 250
    assert sum(len(found) for _, found in debugger.tensor_history) <= MOST_STATISTICS
    assert debugger.tensor_history[-1][0] == 249


def test_the_level_can_be_changed_by_its_name():
    debugger = TrainingDebugger()
    debugger.level = "extreme"
    assert debugger.level is DebugLevel.EXTREME
    with pytest.raises(ValueError, match="did you mean 'advanced'"):
        debugger.level = "advancd"


def test_a_scaler_takes_its_factor_out_and_overflows_are_its_own():
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    model = network()
    scaler.scale(model(torch.randn(8, 4)).square().mean()).backward()
    wanted = nn.utils.clip_grad_norm_(model.parameters(), math.inf).item() / 1024
    for level in ("basic", "advanced"):
        info = TrainingDebugger(level).monitor_training_step(model, 1.0, 0, scaler=scaler)
        assert info["gradient_norm"] == pytest.approx(wanted, rel=1e-5)
        assert not info["is_anomaly"]
    model[0].weight.grad[0, 0] = math.inf
    info = TrainingDebugger("advanced").monitor_training_step(model, 1.0, 0, scaler=scaler)
    assert (info["is_anomaly"], info["has_inf"]) == (False, True)
    assert TrainingDebugger("advanced").monitor_training_step(model, 1.0, 0)["is_anomaly"]


def test_models_do_not_share_what_is_usual():
    debugger = TrainingDebugger()
    calm, wild = network(), network()
    for step in range(40):
        assert not debugger.monitor_training_step(calm, 0.001, step)["is_anomaly"]
        assert not debugger.monitor_training_step(wild, 1000.0, step)["is_anomaly"]


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [
        (torch.tensor(2.0), 2.0),
        (torch.tensor([1.0, 3.0]), 2.0),
        (torch.tensor(2.0, dtype=torch.bfloat16, requires_grad=True), 2.0),
        (3, 3.0),
        (type("Output", (), {"loss": torch.tensor(4.0)})(), 4.0),
    ],
)
def test_a_loss_comes_in_many_forms(loss, wanted):
    assert TrainingDebugger().monitor_training_step(network(), loss, 0)["loss"] == wanted


@pytest.mark.parametrize("loss", [None, "1", True, torch.empty(0), torch.tensor(1j), nn.Linear(1, 1)])
def test_what_is_no_loss_is_refused_in_one_line(loss):
    with pytest.raises(TypeError, match="a loss was wanted") as raised:
        TrainingDebugger().monitor_training_step(network(), loss, 0)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("level", LEVELS)
def test_a_training_is_the_same_bits_with_and_without_a_debugger(level):
    watched, plain = network(), network()
    debugger = TrainingDebugger(level)
    assert trained(watched, debugger, steps=8) == trained(plain, None, steps=8)
    for one, other in zip(watched.parameters(), plain.parameters(), strict=True):
        assert torch.equal(one, other)
        assert torch.equal(one.grad, other.grad)


def test_looking_leaves_streams_modes_and_gradients_alone():
    model = network(normalised=True)
    model(torch.randn(8, 4)).sum().backward()
    before = [(each.grad, each.grad.clone(), each._version, each.grad._version) for each in model.parameters()]
    states, modes = (torch.get_rng_state(), random.getstate()), [each.training for each in model.modules()]
    buffers = [each.clone() for each in model.buffers()]
    TrainingDebugger("extreme").monitor_training_step(model, torch.tensor(1.0), 0)
    for parameter, (gradient, values, version, gradient_version) in zip(model.parameters(), before, strict=True):
        assert parameter.grad is gradient
        assert torch.equal(gradient, values)
        assert (parameter._version, gradient._version) == (version, gradient_version)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert [each.training for each in model.modules()] == modes
    assert all(torch.equal(one, other) for one, other in zip(model.buffers(), buffers, strict=True))


def test_neither_model_nor_tensors_are_held():
    debugger = TrainingDebugger("extreme")
    model = network()
    loss = model(torch.randn(8, 4)).sum()
    loss.backward()
    debugger.monitor_training_step(model, loss, 0)
    gone = [weakref.ref(each) for each in (model, loss, model[0].weight, model[0].weight.grad)]
    del model, loss
    gc.collect()
    assert [each() for each in gone] == [None] * 4


@pytest.mark.parametrize("settings", [{"level": "deep"}, {"explosion_threshold": 0}, {"max_history": 0}])
def test_wrong_settings_are_refused_in_one_line(settings):
    with pytest.raises(ValueError, match=r"came|is not one of") as raised:
        TrainingDebugger(**settings)
    assert "\n" not in str(raised.value)
