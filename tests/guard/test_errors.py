"""Errors are kept as text, bounded, counted, from any thread; and the first thing is done about them."""

import json
import logging
import threading

import pytest
import torch
from torch import nn

from torchmagic.guard.error_kinds import ErrorCategory, ErrorSeverity, category_of
from torchmagic.guard.error_system import ErrorHandlingDebuggingSystem
from torchmagic.guard.error_tracker import ErrorTracker
from torchmagic.guard.recovery_strategy import recovery_strategy


def test_the_call_of_the_document(caplog):
    system = ErrorHandlingDebuggingSystem()
    with caplog.at_level(logging.DEBUG, logger="torchmagic.guard"):
        system.error_tracker.track_error(
            error=RuntimeError("it broke"),
            severity=ErrorSeverity.ERROR,
            category=ErrorCategory.MODEL,
            context={"operation": "training_step"},
        )
    (kept,) = system.error_tracker.errors
    assert (kept.kind, kept.message, kept.severity, kept.category) == (
        "RuntimeError",
        "RuntimeError: it broke",
        ErrorSeverity.ERROR,
        ErrorCategory.MODEL,
    )
    assert kept.context == {"operation": "training_step"}
    assert system.error_tracker.counts == {"model": 1}
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("ERROR", "model error: RuntimeError: it broke")
    assert record.tracked["context"] == {"operation": "training_step"}
    assert json.loads(json.dumps(kept.to_dict()))["number"] == 1


@pytest.mark.parametrize("severity", list(ErrorSeverity))
def test_severities_are_levels_of_the_log(severity, caplog):
    with caplog.at_level(logging.DEBUG, logger="torchmagic.guard"):
        ErrorTracker().track_error("a text", severity)
    assert caplog.records[0].levelname == severity.name
    assert severity.level == getattr(logging, severity.name)


def test_only_the_last_are_kept_and_all_are_counted():
    tracker = ErrorTracker(max_errors=3)
    for number in range(10):
        tracker.track_error(ValueError(number), "warning", "data" if number % 2 else "input")
    assert [each.number for each in tracker.errors] == [8, 9, 10]
    assert len(tracker) == 10
    assert tracker.counts == {"data": 5, "input": 5}
    assert tracker.severities == {"warning": 10}
    tracker.clear()
    assert (tracker.errors, tracker.counts, len(tracker)) == ((), {}, 0)


def test_threads_may_track_at_once():
    tracker = ErrorTracker(max_errors=50)
    threads = [
        threading.Thread(target=lambda: [tracker.track_error(KeyError(i)) for i in range(200)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tracker) == sum(tracker.counts.values()) == 1600
    assert len({each.number for each in tracker.errors}) == 50


def test_a_traceback_has_its_frames_and_its_causes():
    def deep(depth):
        if depth:
            deep(depth - 1)
        raise ValueError("at the bottom")

    tracker = ErrorTracker()
    try:
        try:
            deep(100)
        except ValueError as error:
            raise RuntimeError("above") from error
    except RuntimeError as error:
        kept = tracker.track_error(error)
    assert "at the bottom" in kept.traceback
    assert "The above exception was the direct cause" in kept.traceback
    assert kept.traceback.count("in deep") <= 20


def test_context_is_told_without_reading_or_calling_anything_of_the_users():
    class Strange:
        def __repr__(self):
            raise AssertionError("not to be called")

    kept = ErrorTracker().track_error(
        "x",
        context={
            "object": Strange(),
            "meta": torch.empty(2, device="meta"),
            "dtype": torch.float16,
            "long": "a" * 999,
            3: 4,
        },
    )
    assert kept.context["object"] == "Strange"
    assert kept.context["meta"] == "tensor 2 float32 meta"
    assert kept.context["dtype"] == "torch.float16"
    assert len(kept.context["long"]) == 200
    assert kept.context["3"] == 4


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (MemoryError(), "memory"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "memory"),
        (ConnectionError(), "network"),
        (FileNotFoundError("gone"), "system"),
        (ZeroDivisionError(), "numerical"),
        (RuntimeError("Function 'SqrtBackward0' returned nan values in its 0th output."), "numerical"),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), "model"),
        (RuntimeError("Expected all tensors to be on the same device"), "device"),
        (IndexError("Target 7 is out of bounds."), "data"),
        (RuntimeError("Trying to backward through the graph a second time"), "gradient"),
        (ValueError("the tenant of the nanosecond"), "unknown"),
    ],
)
def test_an_error_tells_what_it_is_about(error, category):
    assert category_of(error) == category
    assert ErrorTracker().track_error(error).category == category


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"severity": "fatal"}, "ErrorSeverity is one of debug, info, warning, error, critical; 'fatal' came"),
        ({"category": "moon"}, "ErrorCategory is one of model, data"),
    ],
)
def test_a_wrong_member_is_one_line(wrong, said):
    with pytest.raises(ValueError, match=said):
        ErrorTracker().track_error("x", **wrong)
    with pytest.raises(ValueError, match="max_errors is how many"):
        ErrorTracker(0)


def with_gradients():
    model = nn.Linear(3, 2)
    model(torch.ones(1, 3)).sum().backward()
    return model


def test_out_of_memory_may_go_on():
    assert recovery_strategy(RuntimeError("CUDA out of memory"), {}) is True
    assert recovery_strategy(MemoryError()) is True


def test_gradients_are_set_to_zero_in_place():
    model = with_gradients()
    gradients = [each.grad for each in model.parameters()]
    assert recovery_strategy(RuntimeError("gradient is nan"), {"model": model}) is True
    assert all(
        each.grad is was and not each.grad.any() for each, was in zip(model.parameters(), gradients, strict=True)
    )
    model = with_gradients()
    assert recovery_strategy(RuntimeError("exploding gradients"), {"optimizer": torch.optim.SGD(model.parameters())})
    assert not any(each.grad.any() for each in model.parameters())


def test_nan_is_skipped_and_what_only_sounds_like_it_is_not():
    model = with_gradients()
    assert recovery_strategy(ValueError("Loss is NaN"), {"model": model}) is True
    assert any(each.grad.any() for each in model.parameters())
    assert recovery_strategy(ValueError("the tenant of the finance information"), {"model": model}) is False
    assert recovery_strategy(KeyError("x"), {}) is False


def test_the_system_keeps_and_recovers():
    tracker = ErrorTracker()
    system = ErrorHandlingDebuggingSystem(tracker)
    assert system.error_tracker is tracker
    assert system.handle_error(RuntimeError("loss is nan"), {"operation": "step"}) is True
    assert system.handle_error(KeyError("x"), severity="warning", category="data") is False
    assert tracker.counts == {"data": 1, "numerical": 1}
