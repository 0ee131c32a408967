"""The loop that trains by a mode, and the benchmark of modes, as the document uses them."""

import math

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmagic
from torchmagic import OptimizationMode, PyTorchOptimizer
from torchmagic.tuning import comparison

MODES = [each for each in OptimizationMode if each not in ("compilation", "full_optimization")]


class Debugger:
    """All that is asked of a debugger."""

    def __init__(self):
        self.optimization_metrics = []


def plain_losses(training, batches, epochs, number=1):
    """Return the losses of the loop that a user would write."""
    losses = []
    for _ in range(epochs):
        for i in range(0, len(batches), number):
            group = batches[i : i + number]
            rows = sum(len(y) for _, y in group)
            training.optimizer.zero_grad()
            total = 0
            for x, y in group:
                loss = training.criterion(training.model(x), y) * (len(y) / rows)
                loss.backward()
                total += loss.item()
            training.optimizer.step()
            losses.append(total)
    return losses


def trained(one, **fields):
    training = one.training
    settings = {"measure": False, "progress": False, **fields}
    model, optimizer = settings.pop("model", training.model), settings.pop("optimizer", training.optimizer)
    return PyTorchOptimizer().optimize_training_loop(
        model, settings.pop("loader", one.batches), optimizer, training.criterion, **settings
    )


def weights(one):
    return [each.detach() for each in one.training.model.parameters()]


@pytest.mark.parametrize("name", ["mlp", "cnn", "transformer with dropout", "rnn", "tied"])
def test_the_plain_mode_trains_like_the_users_loop_bit_by_bit(case, name):
    one, other = case(name), case(name)
    torch.manual_seed(1)
    found = trained(one, optimization_mode="none", epochs=2)
    torch.manual_seed(1)
    assert found["losses"] == plain_losses(other.training, other.batches, 2)
    assert all(map(torch.equal, weights(one), weights(other)))
    assert found["num_steps"] == 6


@pytest.mark.parametrize("mode", ["amp", "memory_efficient", "channels_last", "fused_optimizer", "threads"])
@pytest.mark.parametrize("name", ["mlp", "cnn", "transformer", "rnn"])
def test_each_mode_trains_the_model_itself(case, name, mode):
    one, other = case(name, torch.optim.SGD), case(name, torch.optim.SGD)
    found = trained(one, optimization_mode=mode, epochs=2)
    expected = plain_losses(other.training, other.batches, 2)
    assert found["losses"] == pytest.approx(expected, rel=0.05 if mode == "amp" else 1e-3)
    for ours, theirs in zip(weights(one), weights(other), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-3 if mode == "amp" else 1e-5)
    assert found["epoch_losses"] == pytest.approx([sum(found["losses"][:3]) / 3, sum(found["losses"][3:]) / 3])


def test_measuring_before_changes_nothing_of_the_training(case):
    found = []
    for measure in (False, True):
        one = case("transformer with dropout")
        data = TensorDataset(torch.cat([x for x, _ in one.batches]), torch.cat([y for _, y in one.batches]))
        torch.manual_seed(7)
        loader = DataLoader(data, batch_size=5, shuffle=True, generator=torch.Generator().manual_seed(4))
        found.append(trained(one, loader=loader, measure=measure, optimization_mode="none", epochs=2)["losses"])
    assert found[0] == found[1]
    assert len(found[0]) == 10


def test_steps_of_several_batches_are_those_of_one_large_batch(case):
    one, other = case("mlp", torch.optim.SGD), case("mlp", torch.optim.SGD)
    found = trained(one, optimization_mode="none", accumulation_steps=2)
    assert found["losses"] == pytest.approx(plain_losses(other.training, other.batches, 1, number=2))
    assert found["num_steps"] == 2
    assert found["optimization_metrics"]["gradient_accumulation_steps"] == 2
    large = case("mlp", torch.optim.SGD)
    x, y = (torch.cat(each) for each in zip(*large.batches[:2], strict=True))
    trained(large, loader=[(x, y), large.batches[2]], optimization_mode="none")
    for ours, theirs in zip(weights(one), weights(large), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_batch_whose_targets_are_all_ignored_adds_nothing_to_its_step(case):
    one, other = (case("mlp", torch.optim.SGD, nn.CrossEntropyLoss(ignore_index=-1)) for _ in range(2))
    ignored = (one.batches[1][0], torch.full((8,), -1))
    found = trained(one, loader=[one.batches[0], ignored], optimization_mode="none", accumulation_steps=2)
    expected = trained(other, loader=other.batches[:1], optimization_mode="none")
    assert found["losses"] == expected["losses"]
    assert all(map(torch.equal, weights(one), weights(other)))


def test_the_optimizer_has_its_settings_back(case):
    one = case("mlp")
    before = {name: value for name, value in one.training.optimizer.param_groups[0].items() if name != "params"}
    found = trained(one, optimization_mode="fused_optimizer")
    after = {name: value for name, value in one.training.optimizer.param_groups[0].items() if name != "params"}
    assert after == before
    assert found["notes"] == []


def test_what_a_training_wins_is_measured_and_told_to_the_debugger(case):
    one, debugger = case("cnn"), Debugger()
    optimizer = PyTorchOptimizer(debugger)
    result = optimizer.optimize_training_loop(
        model=one.training.model,
        dataloader=one.batches,
        optimizer=one.training.optimizer,
        criterion=one.training.criterion,
        epochs=1,
        optimization_mode=OptimizationMode.AMP,
        progress=False,
    )
    assert f"{result['optimization_metrics']['speedup_factor']:.2f}x" != "nanx"
    assert result["total_time"] > 0
    assert result["comparison_time"] > 0
    [metrics] = debugger.optimization_metrics
    assert metrics is optimizer.optimization_metrics[-1]
    assert (metrics.mode.value, metrics.amp_enabled, metrics.compilation_enabled) == ("amp", True, False)
    assert metrics.speedup_low <= metrics.speedup_factor <= metrics.speedup_high
    assert metrics.memory_savings < 1
    assert metrics.memory_usage > 0
    assert metrics.agreement == "same within bf16 rounding"
    assert result["optimization_metrics"]["mode"] == "amp"
    assert metrics.execution_time == result["total_time"]


def test_what_could_not_be_measured_is_told_and_the_training_goes_on(case):
    one = case("mlp")
    one.training.model.lines = (line for line in "ab")
    found = trained(one, measure=True, optimization_mode="none")
    assert math.isnan(found["optimization_metrics"]["speedup_factor"])
    assert len(found["losses"]) == 3
    assert "the model cannot be copied" in found["notes"][0]


def test_a_mode_that_does_not_apply_trains_plainly_and_says_so(case):
    one, other = case("mlp"), case("mlp")
    found = trained(one, optimization_mode="channels_last")
    assert found["losses"] == plain_losses(other.training, other.batches, 1)
    assert found["notes"] == ["channels_last: the model has no convolution over images"]


def test_batches_that_come_only_once_are_all_trained_on(case):
    one, other = case("mlp"), case("mlp")
    found = trained(one, loader=iter(one.batches), measure=True, optimization_mode="none")
    assert found["losses"] == plain_losses(other.training, other.batches, 1)


def test_what_draws_its_batches_at_random_draws_each_once(case):
    def endless():
        for _ in range(12):
            yield torch.randn(8, 6), torch.zeros(8, dtype=torch.long)

    one, seen = case("mlp"), []
    one.training.model.register_forward_pre_hook(lambda _module, args: seen.append(args[0]))
    torch.manual_seed(0)
    found = trained(one, loader=endless(), measure=True, optimization_mode="none", time_limit=0.0)
    assert found["num_steps"] == 12
    assert len({float(x[0, 0]) for x in seen}) == 12


def test_a_model_that_returns_its_loss_is_trained_without_a_criterion():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 1)

        def forward(self, x, labels):
            return {"loss": ((self.layer(x).squeeze(1) - labels) ** 2).mean()}

    torch.manual_seed(0)
    model = Own()
    batches = [{"x": torch.randn(4, 3), "labels": torch.randn(4)} for _ in range(2)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = PyTorchOptimizer().optimize_training_loop(
        model, batches, optimizer, epochs=20, optimization_mode="none", progress=False
    )
    assert found["epoch_losses"][-1] < 0.7 * found["epoch_losses"][0]
    assert found["optimization_metrics"]["agreement"] == "same"


def test_progress_is_shown_while_it_trains(case, capsys):
    trained(case("mlp"), optimization_mode="none", progress=True)
    assert "3/3" in capsys.readouterr().err


def test_all_modes_are_benchmarked_and_nothing_is_changed(case, state_of, are_equal, monkeypatch):
    monkeypatch.setattr(comparison, "FEWEST_STEPS", 4)
    one = case("cnn")
    training = one.training
    plain_losses(training, one.batches, 1)  # an optimizer with a state, and gradients
    before = state_of(training)
    results = PyTorchOptimizer().benchmark_optimizations(
        model=training.model,
        dataloader=one.batches,
        optimizer=training.optimizer,
        criterion=training.criterion,
        epochs=2,
        modes=MODES,
    )
    assert are_equal(state_of(training), before)
    assert list(results) == MODES
    best_mode = min(results.items(), key=lambda x: x[1]["total_time"])[0]
    assert "error" not in results[best_mode]
    assert results["inference"]["error"].startswith("it trains nothing")
    for mode, result in results.items():
        if "error" not in result:
            assert f"{mode}: {result['total_time']:.2f}s".startswith(mode.value)
            assert result["total_time"] == pytest.approx(6 * result["step_time"])
            assert result["step_time_low"] <= result["step_time"] <= result["step_time_high"]
    assert results["none"]["agreement"] == "same"
    assert results["none"]["loss_difference"] == 0
    assert results["amp"]["agreement"] == "same within bf16 rounding"
    assert results["gradient_accumulation"]["agreement"] == "differs"


def test_the_state_of_the_optimizer_is_part_of_what_is_compared(case):
    one, other = case("mlp"), case("mlp")
    for each in (one, other):
        plain_losses(each.training, each.batches, 2)
    training = one.training
    results = PyTorchOptimizer().benchmark_optimizations(
        training.model, one.batches, training.optimizer, training.criterion, modes=["none"], time_limit=0.001
    )
    assert results["none"]["losses"][:3] == plain_losses(other.training, other.batches, 1)


def test_when_time_is_over_the_rest_are_rows_that_say_so(case):
    one = case("mlp")
    results = PyTorchOptimizer().benchmark_optimizations(
        one.training.model,
        one.batches,
        one.training.optimizer,
        one.training.criterion,
        modes=["none", "amp", "memory_efficient"],
        time_limit=1e-9,
    )
    assert all("the time limit of 1e-09 s was over" in each["error"] for each in results.values())
    assert all(each["total_time"] == math.inf for each in results.values())


def test_a_loop_that_fails_is_a_row_in_every_mode(case):
    one = case("mlp")
    batches = [(torch.zeros(8, 5), torch.zeros(8, dtype=torch.long))]
    results = PyTorchOptimizer().benchmark_optimizations(
        one.training.model, batches, one.training.optimizer, one.training.criterion, modes=["none", "amp"]
    )
    assert all("RuntimeError: mat1 and mat2 shapes" in each["error"] for each in results.values())


@pytest.mark.parametrize(
    ("fields", "error", "match"),
    [
        ({"epochs": 0}, ValueError, "epochs=0 came; wanted a whole number from 1 on"),
        ({"accumulation_steps": 1.5}, ValueError, "accumulation_steps=1.5 came"),
        ({"optimization_mode": "fast"}, ValueError, "'fast' is no optimization mode"),
        ({"batches": 3}, ValueError, "there is no option 'batches'"),
        ({"loader": []}, ValueError, "the loader gives no batch"),
        ({"loader": [3]}, TypeError, "a batch of int came"),
        ({"model": None}, TypeError, "a NoneType came as the model; wanted a torch.nn.Module"),
        ({"optimizer": None}, TypeError, "a NoneType came as the optimizer; wanted one of torch.optim"),
    ],
)
def test_wrong_input_is_told_in_one_line_before_anything_is_trained(case, fields, error, match):
    one = case("mlp")
    before = [each.clone() for each in weights(one)]
    with pytest.raises(error, match=match):
        trained(one, measure=True, **fields)
    assert all(map(torch.equal, before, weights(one)))


def test_a_debugger_without_a_list_for_metrics_is_refused_before_anything_is_trained():
    with pytest.raises(TypeError, match="a int came as the debugger; wanted one with a list optimization_metrics"):
        PyTorchOptimizer(5)


def test_modes_may_be_one_text_and_are_nothing_else_than_names(case):
    one = case("mlp")
    given = (one.training.model, one.batches[:2], one.training.optimizer, one.training.criterion)
    assert list(PyTorchOptimizer().benchmark_optimizations(*given, modes="none, amp")) == ["none", "amp"]
    with pytest.raises(TypeError, match="modes=5 came; wanted names of modes"):
        PyTorchOptimizer().benchmark_optimizations(*given, modes=5)


def test_an_optimizer_that_calls_the_forward_itself_is_told(case):
    with pytest.raises(ValueError, match="LBFGS came, whose step calls the forward itself"):
        trained(case("mlp", torch.optim.LBFGS), optimization_mode="none")


def test_a_watched_run_sees_the_training_and_not_the_trials(case):
    one, other = case("cnn"), case("cnn")
    with torchmagic.watch(level="expert") as run:
        PyTorchOptimizer().benchmark_optimizations(
            one.training.model,
            one.batches,
            one.training.optimizer,
            one.training.criterion,
            modes=["amp"],
            time_limit=0.1,
        )
    assert run.steps == 0
    assert not run.findings
    with torchmagic.watch(level="expert") as run:
        found = trained(other, measure=True, optimization_mode="none")
    assert run.steps == 3
    assert list(run.series("loss")[1]) == pytest.approx(found["losses"])
