"""The examples of "PyTorch Debugging and Optimization System" that debug: contexts, checks, logs, errors."""

import copy
import json
import math
import re
from types import SimpleNamespace

import psutil
import pytest
import torch
from torch import nn

import torchmagic


@pytest.fixture
def debugger():
    return torchmagic.PyTorchDebugger(
        error_system=torchmagic.ErrorHandlingDebuggingSystem(), debug_mode=torchmagic.DebugMode.FULL_DEBUG
    )


@pytest.fixture
def watched(debugger, logger):
    return {"debugger": debugger, "logger": logger}


def stepped(lesson):
    """Return the weights after one step of plain torch."""
    model = copy.deepcopy(lesson["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    lesson["criterion"](model(lesson["data"]), lesson["target"]).backward()
    optimizer.step()
    return dict(model.named_parameters())


def is_stepped(lesson, expected):
    return all(torch.equal(weight, expected[name]) for name, weight in lesson["model"].named_parameters())


def with_loss(lesson):
    """Add the loss of a step whose gradients are there."""
    loss = lesson["criterion"](lesson["model"](lesson["data"]), lesson["target"])
    loss.backward()
    return {**lesson, "loss": loss}


def test_the_parts_that_are_handed_in_are_the_ones_in_use(examples):
    left = examples.run("system/01", config=torchmagic.DebugConfig())
    debugger = left["debugger"]
    assert debugger.error_system is left["error_system"]
    assert debugger.training_logger is left["training_logger"]
    assert debugger.config.mode is torchmagic.DebugMode.FULL_DEBUG


def test_a_step_in_a_context_is_the_step_of_plain_torch(examples, debugger, lesson):
    expected = stepped(lesson)
    examples.run("system/02", debugger=debugger, **lesson)
    assert is_stepped(lesson, expected)
    assert debugger.debug_history[-1].operation == "training_operation"
    assert not debugger.debug_history[-1].anomaly_detected


def test_gradients_are_checked_by_norm_anomalies_and_parameter(examples, debugger, lesson, norm_of_gradients, capsys):
    left = examples.run("system/03", debugger=debugger, **with_loss(lesson))
    info = left["gradient_info"]
    assert info["gradient_norm"] == pytest.approx(norm_of_gradients(lesson["model"]), rel=1e-5)
    assert list(info["gradient_anomalies"]) == []
    assert set(info["parameter_stats"]) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    said = capsys.readouterr().out
    assert f"Gradient norm: {info['gradient_norm']}\nGradient anomalies: []\nParameter statistics: " in said


def test_memory_is_profiled_as_the_share_of_the_machine_that_the_process_has(examples, debugger, capsys):
    info = examples.run("system/04", debugger=debugger)["memory_info"]
    assert info["cpu_memory"] == pytest.approx(psutil.Process().memory_percent(), rel=0.3)
    assert list(info["memory_leaks"]) == []
    assert re.search(r"^CPU memory usage: [\d.]+%$", capsys.readouterr().out, re.MULTILINE)


class RootOfNegative(nn.Module):
    """A model whose backward, and only that, is not a number."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(8, 1))

    def forward(self, data):
        return torch.sqrt((data @ self.weight).square())


def test_an_anomaly_of_autograd_is_logged_with_its_operation(examples, debugger, lesson, logger):
    model = RootOfNegative()
    lesson |= {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}
    examples.run("system/08", debugger=debugger, logger=logger, **lesson)
    (said,) = logger.lines
    assert re.match(r"ERROR: Anomaly detected: (?s:.*)PowBackward0", said)
    assert debugger.debug_history[-1].anomaly_detected
    assert torch.equal(model.weight, torch.zeros(8, 1))


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (1.0, None),
        (1e4, "Gradient explosion detected"),
        (1e-9, "Gradient vanishing detected"),
        (math.nan, "Gradient anomaly: "),
    ],
)
def test_gradients_are_judged_by_their_norm_and_their_values(examples, watched, lesson, factor, said):
    logger = watched["logger"]
    given = with_loss(lesson)
    scale = factor / torch.cat([each.grad.flatten() for each in lesson["model"].parameters()]).norm()
    for parameter in lesson["model"].parameters():
        parameter.grad.mul_(scale)
    analyze = examples.run("system/09", **watched)["analyze_gradients"]
    info = analyze(given["model"], given["loss"])
    assert bool(logger.lines) is (said is not None)
    assert said is None or any(said in line for line in logger.lines)
    if math.isnan(factor):
        assert len(info["gradient_anomalies"]) == 4
        assert all("0." in line or "2." in line for line in info["gradient_anomalies"])


def test_a_hundred_batches_that_leak_nothing_are_not_accused(examples, debugger, lesson, logger):
    batches = iter(range(1000))
    find = examples.run("system/10", debugger=debugger, logger=logger, train_batch=lambda: next(batches))
    snapshots = find["detect_memory_leaks"]()
    assert len(snapshots) == 100
    assert next(batches) == 100
    assert not any(each["memory_leaks"] for each in snapshots)
    assert not logger.lines


def test_inference_in_a_context_is_tried_again_and_its_output_is_the_models(examples, debugger, lesson, logger):
    given = {"robust_ops": torchmagic.RobustOperations(), "debugger": debugger, "logger": logger, **lesson}
    left = examples.run("system/14", **given)
    assert left["result"].success
    assert torch.equal(left["output"], lesson["model"](lesson["data"]))


def test_inference_that_fails_is_told_and_raises_nothing(examples, debugger, lesson, logger):
    lesson["data"] = torch.randn(4, 5)
    given = {"robust_ops": torchmagic.RobustOperations(), "debugger": debugger, "logger": logger, **lesson}
    left = examples.run("system/14", **given)
    assert not left["result"].success
    assert "output" not in left
    (said,) = logger.lines
    assert said.startswith("ERROR: Inference failed: ")
    assert "mat1 and mat2" in left["result"].error_message


def test_a_step_is_logged_with_what_its_gradients_are(examples, debugger, lesson, norm_of_gradients):
    expected = stepped(lesson)
    training_logger = torchmagic.create_training_logger(torchmagic.DebugConfig())
    left = examples.run("system/15", debugger=debugger, training_logger=training_logger, **lesson)
    assert is_stepped(lesson, expected)
    assert left["gradient_info"]["gradient_norm"] == pytest.approx(norm_of_gradients(lesson["model"]), rel=1e-5)
    training_logger.close()
    (told,) = map(json.loads, training_logger.path.read_text(encoding="ascii").splitlines())
    assert (told["level"], told["event"], told["message"]) == ("INFO", "training_step", "Training step completed")
    assert told["fields"]["gradient_info"]["gradient_norm"] == left["gradient_info"]["gradient_norm"]


def test_a_decorated_step_is_the_step_of_plain_torch(examples, lesson):
    expected = stepped(lesson)
    left = examples.run("system/16", **lesson)
    assert is_stepped(lesson, expected)
    assert left["loss"].item() > 0
    assert left["training_step"].__name__ == "training_step"
    assert left["training_step"].__doc__ == "Training step with automatic debugging."


def test_a_decorated_step_tells_where_a_gradient_is_no_number_anymore(examples, lesson):
    step = examples.run("system/16", **lesson)["training_step"]
    model = RootOfNegative()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(RuntimeError, match=r"(?i)sqrt"):
        step(model, lesson["data"], lesson["target"], optimizer, lesson["criterion"])


@pytest.fixture
def used(debugger, lesson):
    """A debugger that has something to sum up."""
    for name in ("first", "second"):
        with debugger.debug_context(name):
            with_loss(lesson)
            debugger.check_gradients(lesson["model"])
    return debugger


def test_the_summary_has_times_and_memory_of_all_operations(examples, used, capsys):
    summary = examples.run("system/18", debugger=used)["summary"]
    times = [each.execution_time for each in used.debug_history]
    assert summary["total_operations"] == len(times)
    assert summary["avg_execution_time"] == pytest.approx(sum(times) / len(times))
    assert summary["max_execution_time"] == max(times) > 0
    assert summary["total_optimizations"] == 0
    said = capsys.readouterr().out
    assert f"  Total operations: {len(times)}\n" in said
    assert f"  Maximum execution time: {max(times):.4f}s\n" in said


def test_what_was_measured_can_be_listed(examples, used, capsys):
    examples.run("system/19", debugger=used)
    said = capsys.readouterr().out
    assert said.count("Operation: full_debug\n") == len(used.debug_metrics) >= 2
    assert said.count("  Execution time: ") == len(used.debug_metrics)


@pytest.mark.parametrize(
    "data",
    [
        torch.ones(2, 3),
        torch.tensor([[1.0, math.nan]]),
        torch.tensor([[math.inf, 1.0]]),
        torch.full((2, 3), 1001.0),
        torch.full((2, 3), -1001.0),
        torch.ones(2, 3, 4),
        torch.ones(3),
    ],
    ids=["good", "nan", "inf", "large", "very negative", "three sides", "one side"],
)
def test_inputs_are_refused_as_the_document_refuses_them(examples, data):
    theirs = examples.run("system/21")["validate_model_input"]
    try:
        answer = theirs(data)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            examples.run("system/30", data=data)
    else:
        assert answer is True
        examples.run("system/30", data=data)
        assert torchmagic.validate_model_input(data) is True


class Says(nn.Module):
    """A model whose output is what it is told."""

    def __init__(self, output):
        super().__init__()
        self.output = output

    def forward(self, _):
        return self.output


@pytest.mark.parametrize(
    "output",
    [
        torch.tensor([[0.2, 0.8]]),
        torch.tensor([[math.nan, 0.5]]),
        torch.tensor([[math.inf, 0.5]]),
        torch.tensor([[-0.5, 0.5]]),
        torch.tensor([[0.5, 0.5]]),
    ],
    ids=["good", "nan", "inf", "outside", "uniform"],
)
def test_anomalies_of_outputs_are_those_of_the_document(examples, logger, output):
    theirs = examples.run("system/22", List=list)["detect_model_anomalies"](Says(output), torch.ones(1, 2))
    left = examples.run("system/31", model=Says(output), data=torch.ones(1, 2), logger=logger)
    assert bool(left["anomalies"]) is bool(theirs)
    assert len(logger.lines) == bool(theirs)
    for word in ("NaN", "range", "uniform"):
        theirs_say = any(word in line for line in theirs)
        assert not theirs_say or any(word.lower() in str(line).lower() for line in left["anomalies"])


def test_resources_that_are_short_are_warned_of_as_in_the_document(examples, logger, monkeypatch, caplog):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(percent=97.5, available=2**30))
    examples.run("system/23", psutil=psutil, logger=logger)["monitor_resources"]()
    assert "WARNING: High memory usage: 97.5%" in logger.lines
    with caplog.at_level("WARNING", logger="torchmagic.guard"):
        examples.run("system/32")
    assert "High memory usage: 97.5%" in [record.getMessage() for record in caplog.records]


def test_resources_are_those_of_the_process():
    report = torchmagic.monitor_resources(cpu_percent=None, memory_percent=None)
    assert report.ok
    assert report.process_memory == pytest.approx(psutil.Process().memory_info().rss / 2**20, rel=0.2)


def test_a_context_around_nothing_is_an_operation(examples, debugger):
    examples.run("system/24", debugger=debugger)
    assert [each.operation for each in debugger.debug_history] == ["development_training"]


@pytest.mark.parametrize(("batch_idx", "looks"), [(0, True), (100, True), (7, False)])
def test_gradients_are_checked_now_and_then(examples, watched, lesson, batch_idx, looks):
    logger, given = watched["logger"], with_loss(lesson)
    lesson["model"][0].weight.grad[0, 0] = math.nan
    left = examples.run("system/25", **watched, batch_idx=batch_idx, **given)
    assert ("gradient_info" in left) is looks
    assert len(logger.lines) == looks
    assert all("Gradient anomalies: " in line and "0.weight" in line for line in logger.lines)


@pytest.mark.parametrize(("batch_idx", "looks"), [(50, True), (51, False)])
def test_memory_is_profiled_now_and_then(examples, debugger, logger, batch_idx, looks):
    left = examples.run("system/26", debugger=debugger, logger=logger, batch_idx=batch_idx)
    assert ("memory_info" in left) is looks


@pytest.mark.parametrize(("threshold", "warned"), [(1e9, False), (0.0, True)])
def test_slow_operations_are_told_by_the_summary(examples, used, logger, threshold, warned):
    examples.run("system/29", debugger=used, logger=logger, threshold=threshold)
    assert logger.lines == ["WARNING: Performance degradation detected"] * warned


def test_a_robust_step_answers_with_its_loss(examples, debugger, lesson, logger):
    expected = stepped(lesson)
    step = examples.run("system/33", logger=logger)["robust_training_step"]
    loss = step(*(lesson[name] for name in ("model", "data", "target", "optimizer", "criterion")), debugger)
    assert loss > 0
    assert is_stepped(lesson, expected)
    assert debugger.error_system.error_tracker.errors == ()


def test_a_robust_step_that_fails_is_tracked_with_its_severity(examples, debugger, lesson, logger):
    step = examples.run("system/33", logger=logger)["robust_training_step"]
    names = ("model", "data", "target", "optimizer", "criterion")
    lesson["data"] = torch.randn(4, 5)
    assert step(*(lesson[name] for name in names), debugger) is None
    (error,) = debugger.error_system.error_tracker.errors
    assert error.severity is torchmagic.ErrorSeverity.ERROR
    assert error.category is torchmagic.ErrorCategory.MODEL
    assert error.context["operation"] == "training_step"
    assert "mat1 and mat2" in error.message


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        ValueError("a gradient is odd"),
        ValueError("the loss is nan"),
        ValueError("something else"),
    ],
    ids=["memory", "gradient", "nan", "else"],
)
def test_errors_are_recovered_from_as_in_the_document(examples, lesson, error):
    model = with_loss(lesson)["model"]
    twin = copy.deepcopy(model)
    for ours, theirs in zip(twin.parameters(), model.parameters(), strict=True):
        ours.grad = theirs.grad.clone()
    theirs = examples.run("system/34", model=model, Dict=dict, Any=object)["recovery_strategy"]
    assert torchmagic.recovery_strategy(error, {"model": twin}) is theirs(error, {})
    for ours, theirs in zip(twin.parameters(), model.parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad)
