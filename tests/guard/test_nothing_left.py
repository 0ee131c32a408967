"""A guard leaves nothing behind: no hook, no mode, no thread, no tensor of a batch, and nothing that keeps a model."""

import gc
import threading
import weakref

import pytest
import torch
from torch.nn import functional

from torchmagic.guard.anomalies import detect_model_anomalies
from torchmagic.guard.error_tracker import ErrorTracker
from torchmagic.guard.robust_operations import RobustOperations
from torchmagic.guard.training_guard import TrainingGuard


def hooks(model):
    return [
        [len(value) for name, value in vars(module).items() if name.endswith("_hooks") and value is not None]
        for module in model.modules()
    ]


def test_a_guard_registers_nothing_and_switches_nothing(training):
    one = training()
    before = hooks(one.model), set(threading.enumerate()), torch.is_grad_enabled(), torch.is_anomaly_enabled()
    classes = {name: value for name, value in vars(torch.optim.Optimizer).items() if callable(value)}
    one.batches[3][0].fill_(torch.nan)

    def full(inputs):
        if len(inputs) > 8:
            raise MemoryError

    one.model.before = full
    one.guarded(keep_every=2)
    assert set(one.guard.counts) == {"skipped", "halved"}
    assert (hooks(one.model), set(threading.enumerate()), torch.is_grad_enabled(), torch.is_anomaly_enabled()) == before
    assert {name: value for name, value in vars(torch.optim.Optimizer).items() if callable(value)} == classes


@pytest.mark.parametrize("fault", ["none", "nan", "memory", "error"])
def test_nothing_of_a_batch_is_held_after_its_step(training, fault):
    one = training(num_batches=1)
    guard = TrainingGuard(one.model, one.optimizer)

    def step():
        inputs, targets = one.batches.pop()
        if fault == "nan":
            inputs[0, 0] = torch.nan
        seen = []

        def before(given):
            if fault == "memory" and len(given) > 8:
                raise MemoryError
            if fault == "error":
                raise KeyError("mine")

        one.model.before = before
        held = [weakref.ref(inputs), weakref.ref(targets)]
        for part in guard.step((inputs, targets)):
            with part as (some, wanted):
                outputs = one.model(some)
                loss = functional.cross_entropy(outputs, wanted)
                seen += [weakref.ref(outputs), weakref.ref(loss)]
                part.backward(loss)
        return held + seen

    gc.disable()
    try:
        if fault == "error":
            with pytest.raises(KeyError):
                step()
            refs = []
        else:
            refs = step()
        one.model.before = None
        assert [ref() for ref in refs] == [None] * len(refs)
        assert guard._crew.start._backs == []
    finally:
        gc.enable()


def test_what_a_failed_forward_holds_is_gone_before_the_next_attempt(training):
    one = training(num_batches=1)
    refs, alive = [], []

    def before(_inputs):
        if refs:
            alive.append(refs[0]() is not None)
            return
        local = torch.ones(1000)
        refs.append(weakref.ref(local))
        error = TimeoutError()  # a circle through this frame, which only the collector would find
        raise error

    one.model.before = before
    gc.disable()
    try:
        one.guarded(backoff=0)
    finally:
        gc.enable()
    assert alive == [False]


def test_a_guard_that_is_gone_keeps_no_model(training):
    one = training().guarded(keep_every=1)
    refs = [weakref.ref(one.model), weakref.ref(one.optimizer), weakref.ref(next(one.model.parameters()))]
    one.model.before = None
    del one
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


def test_errors_that_are_kept_hold_no_frame_and_no_tensor():
    tracker = ErrorTracker()

    def fail():
        local = torch.ones(100)
        refs.append(weakref.ref(local))
        raise RuntimeError("mine")

    refs = []
    batch = torch.ones(3, 4)
    refs.append(weakref.ref(batch))
    try:
        fail()
    except RuntimeError as error:
        refs.append(weakref.ref(error)) if hasattr(error, "__weakref__") else None
        tracker.track_error(error, context={"batch": batch, "rows": [batch, 1]})
    del batch
    gc.collect()
    assert [ref() for ref in refs] == [None] * len(refs)
    (kept,) = tracker.errors
    assert "raise RuntimeError" in kept.traceback
    assert kept.context == {"batch": "tensor 3×4 float32 cpu", "rows": "list 3×4"}


def test_an_inference_that_failed_keeps_no_tensor(training):
    one = training()
    seen = []

    def fail(inputs):
        seen.append(weakref.ref(inputs))
        raise TypeError("mine")

    one.model.before = fail
    robust_ops = RobustOperations()

    def run():
        return robust_ops.model_inference.safe_inference(model=one.model, input_data=torch.ones(2, 6))

    result = run()
    gc.collect()
    assert not result.success
    assert [ref() for ref in seen] == [None]


def test_a_look_for_anomalies_leaves_the_model_as_it_was(training):
    one = training()
    one.model(one.batches[0][0]).sum().backward()
    before, gradients = one.bits(), [each.grad.clone() for each in one.model.parameters()]
    calls = []
    one.model.register_forward_hook(lambda *_: calls.append(1))
    state = hooks(one.model), [each.training for each in one.model.modules()]
    assert detect_model_anomalies(one.model, one.batches[0][0]) == ["Model output outside expected range"]
    assert one.bits() == before
    assert calls == []
    assert (hooks(one.model), [each.training for each in one.model.modules()]) == state
    assert all(torch.equal(each.grad, was) for each, was in zip(one.model.parameters(), gradients, strict=True))
