"""Failures that may pass: the step begins again where it began."""

import errno

import pytest
import torch

from torchmagic.guard.failures import is_out_of_memory, is_transient, may_pass
from torchmagic.guard.training_guard import TrainingGuard


class FlakyError(Exception):
    """A failure that only its user knows to pass."""


def flaky(calls, error, model):
    """Fail in some calls, after random numbers were drawn and the statistics were changed."""
    count = iter(range(1000))

    def before(inputs):
        if next(count) in calls:
            torch.rand(3)
            model.model[1].running_var.mul_(5)
            raise error

    return before


@pytest.mark.parametrize(
    "error", [ConnectionResetError("peer"), TimeoutError(), RuntimeError("temporarily unavailable")]
)
def test_a_flaky_model_ends_with_the_bits_of_a_steady_one(training, error):
    bits = training().plain().bits()
    hit = training()
    hit.model.before = flaky({2, 3, 9}, error, hit.model)
    hit.guarded(backoff=0)
    assert hit.bits() == bits
    assert hit.guard.counts == {"retried": 3}
    assert "tried again after 0 s (2 of 3)" in hit.guard.recoveries[1].text


def test_failures_of_the_users_own_kind_can_be_named(training):
    bits = training().plain().bits()
    hit = training()
    hit.model.before = flaky({4}, FlakyError("again"), hit.model)
    hit.guarded(backoff=0, retry_on=(FlakyError,))
    assert hit.bits() == bits


def test_a_failure_that_does_not_pass_reaches_the_user_unchanged(training):
    hit = training()
    mine = ConnectionRefusedError("nobody there")
    hit.model.before = flaky(set(range(5, 100)), mine, hit.model)
    with pytest.raises(ConnectionRefusedError) as caught:
        hit.guarded(backoff=0, max_retries=2)
    assert caught.value is mine
    assert hit.guard.counts == {"retried": 2, "stopped": 1}
    assert hit.guard.recoveries[-1].text.endswith("2 retries did not help")


def test_what_may_be_a_mistake_is_not_tried_again(training):
    hit = training()
    hit.model.before = flaky({0}, RuntimeError("something else"), hit.model)
    with pytest.raises(RuntimeError, match="something else"):
        hit.guarded(backoff=0)
    assert hit.guard.recoveries == ()


def test_pauses_grow(training, monkeypatch):
    pauses = []
    monkeypatch.setattr("torchmagic.guard.raised_errors.time.sleep", pauses.append)
    one = training(num_batches=1)
    guard = TrainingGuard(one.model, one.optimizer, backoff=0.5, max_retries=5)
    one.model.before = flaky(set(range(5)), TimeoutError(), one.model)
    guard.run(lambda batch: one.model(batch[0]).sum(), one.batches[0])
    assert pauses == [0.5, 1.0, 2.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("error", "full", "transient", "passing"),
    [
        (MemoryError(), True, False, False),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True, False, False),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"), True, False, False),
        (ValueError("a poem about being out of memory"), False, False, False),
        (ConnectionError(), False, True, True),
        (OSError(errno.EAGAIN, "try"), False, True, True),
        (FileNotFoundError(errno.ENOENT, "gone"), False, False, False),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"), False, False, False),
        (RuntimeError("expected scalar type Float but found Double"), False, False, False),
        (RuntimeError("CUDA error: device-side assert triggered"), False, False, False),
        (RuntimeError("who knows"), False, False, True),
        (NotImplementedError("who knows"), False, False, False),
        (TypeError("who knows"), False, False, False),
    ],
)
def test_failures_are_told_apart(error, full, transient, passing):
    assert (is_out_of_memory(error), is_transient(error), may_pass(error)) == (full, transient, passing)
