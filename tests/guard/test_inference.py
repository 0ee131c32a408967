"""Inference that answers with a result: retries, another device, checks before and after."""

import math

import pytest
import torch
from torch import nn

from torchmagic.guard.input_spec import InputSpec
from torchmagic.guard.robust_operations import RobustOperations


class Flaky(nn.Module):
    """Fails as often as it is told, then answers."""

    def __init__(self, *errors):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.errors = list(errors)
        self.calls = 0

    def forward(self, inputs):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.layer(inputs)


class Pauses(list):
    def __call__(self, seconds):
        self.append(seconds)


@pytest.fixture
def pauses():
    return Pauses()


@pytest.fixture
def robust_ops(pauses):
    return RobustOperations(sleep=pauses)


def test_the_call_of_the_document(robust_ops):
    model, data = nn.Linear(3, 2), torch.randn(4, 3)
    result = robust_ops.model_inference.safe_inference(
        model=model, input_data=data, device=torch.device("cpu"), max_retries=3
    )
    assert result.success
    assert torch.equal(result.data, model(data))
    assert not result.data.requires_grad
    assert (result.error_message, result.category, result.attempts, result.device, result.notes) == (
        "",
        None,
        1,
        "cpu",
        (),
    )
    assert 0 < result.seconds < 60
    assert len(robust_ops.error_tracker) == 0


def test_what_may_pass_is_tried_again_after_growing_pauses(robust_ops, pauses):
    model = Flaky(ConnectionError("gone"), RuntimeError("who knows"), TimeoutError())
    result = robust_ops.model_inference.safe_inference(model, torch.ones(1, 2))
    assert (result.success, result.attempts, model.calls) == (True, 4, 4)
    assert pauses == [0.1, 0.2, 0.4]
    assert result.notes[0] == "attempt 1: ConnectionError: gone; tried again on cpu"


def test_too_many_failures_are_a_result(robust_ops):
    model = Flaky(*[ConnectionError("gone")] * 9)
    result = robust_ops.model_inference.safe_inference(model, torch.ones(1, 2), max_retries=2)
    assert (result.success, result.data, result.attempts) == (False, None, 3)
    assert result.error_message == "ConnectionError: gone"
    assert result.category == "network"
    (kept,) = robust_ops.error_tracker.errors
    assert kept.context == {"operation": "inference", "attempts": 3, "device": "cpu"}
    assert "in forward" in kept.traceback


@pytest.mark.parametrize(
    "error", [TypeError("mine"), RuntimeError("mat1 and mat2 shapes cannot be multiplied"), KeyError("x")]
)
def test_a_mistake_is_not_tried_again(robust_ops, pauses, error):
    model = Flaky(error)
    result = robust_ops.model_inference.safe_inference(model, torch.ones(1, 2))
    assert (result.success, result.attempts, pauses) == (False, 1, [])
    assert type(error).__name__ in result.error_message


def test_errors_can_be_named_that_pass(pauses):
    robust_ops = RobustOperations(retry_on=(KeyError,), backoff=0, sleep=pauses)
    assert robust_ops.model_inference.safe_inference(Flaky(KeyError("x")), torch.ones(1, 2)).success


def test_a_bad_input_does_not_reach_the_model(robust_ops):
    model = Flaky()
    result = robust_ops.model_inference.safe_inference(model, torch.tensor([[math.nan, 0]]))
    assert (result.success, result.attempts, model.calls) == (False, 0, 0)
    assert result.error_message.startswith("Input contains NaN or infinite values")
    assert result.category == "input"
    spec = InputSpec(shape=(None, 2), minimum=0, maximum=1)
    result = robust_ops.model_inference.safe_inference(model, torch.ones(1, 2) * 3, spec=spec)
    assert "too large" in result.error_message
    assert robust_ops.model_inference.safe_inference(nn.Identity(), torch.tensor([1.0]), spec=None).success


def test_an_output_that_is_not_finite_is_a_failure_that_is_said(robust_ops):
    model = Flaky()
    model.layer.weight.data[0, 0] = math.nan
    result = robust_ops.model_inference.safe_inference(model, torch.ones(3, 2))
    assert (result.success, result.data, model.calls) == (False, None, 1)
    assert result.error_message == "the output contains 3 NaN and 0 infinite values"
    assert result.category == "numerical"


def test_modes_come_back_and_statistics_stay(robust_ops):
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5), nn.Linear(2, 1))
    model[1].eval()
    before = {name: each.clone() for name, each in model.state_dict().items()}
    first, second = (robust_ops.model_inference.safe_inference(model, torch.ones(4, 2)).data for _ in range(2))
    assert torch.equal(first, second)
    assert [each.training for each in model] == [True, False, True]
    assert all(torch.equal(each, before[name]) for name, each in model.state_dict().items())
    robust_ops.model_inference.safe_inference(model, torch.ones(4, 5))
    assert [each.training for each in model] == [True, False, True]
    assert torch.is_grad_enabled()


class FullElsewhere(nn.Module):
    """Has room on the CPU only."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, inputs):
        if self.layer.weight.device.type != "cpu":
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return self.layer(inputs) * self.scale


def test_a_full_device_is_left_for_the_cpu_and_the_model_stays_where_it_is(robust_ops):
    model, data = FullElsewhere(), torch.ones(3, 2)
    storages = [each.data_ptr() for each in (*model.parameters(), *model.buffers())]
    result = robust_ops.model_inference.safe_inference(model, data, device="meta")
    assert (result.success, result.attempts, result.device) == (True, 2, "cpu")
    assert "tried again on cpu" in result.notes[0]
    assert torch.equal(result.data, model(data))
    assert [each.data_ptr() for each in (*model.parameters(), *model.buffers())] == storages


def test_on_another_device_a_copy_is_run(robust_ops):
    model, data = nn.Linear(2, 1), torch.ones(3, 2)
    result = robust_ops.model_inference.safe_inference(model, data, device="meta")
    assert result.success
    assert result.data.device.type == "meta"
    assert model.weight.device.type == data.device.type == "cpu"


def test_a_full_cpu_is_tried_again(robust_ops):
    result = robust_ops.model_inference.safe_inference(Flaky(MemoryError(), MemoryError()), torch.ones(1, 2))
    assert (result.success, result.attempts, result.device) == (True, 3, "cpu")


def test_batches_are_taken_as_the_model_takes_them(robust_ops):
    model = nn.Bilinear(2, 3, 1)
    pair = torch.randn(5, 2), torch.randn(5, 3)
    wanted = model(*pair)
    for data in (pair, list(pair), {"input1": pair[0], "input2": pair[1]}):
        assert torch.equal(robust_ops.model_inference.safe_inference(model, data).data, wanted)


def test_ctrl_c_passes(robust_ops):
    model = Flaky()
    model.errors = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        robust_ops.model_inference.safe_inference(model, torch.ones(1, 2))


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        ({"model": 3}, TypeError, "a model was wanted"),
        ({"max_retries": -1}, ValueError, "max_retries is a whole number of 0 or more, -1 came"),
        ({"device": "moon"}, ValueError, "device is a torch.device"),
    ],
)
def test_a_wrong_call_is_one_line(robust_ops, wrong, kind, said):
    call = {"model": nn.Linear(2, 1), "input_data": torch.ones(1, 2), **wrong}
    with pytest.raises(kind, match=said):
        robust_ops.model_inference.safe_inference(**call)
    with pytest.raises(ValueError, match="backoff is a number of seconds"):
        RobustOperations(backoff=-1)


def test_a_scripted_model_is_run_and_keeps_its_mode(robust_ops):
    with pytest.warns(DeprecationWarning, match="script"):
        model = torch.jit.script(nn.Sequential(nn.Dropout(0.9), nn.Linear(2, 1)))
    result = robust_ops.model_inference.safe_inference(model, torch.ones(4, 2))
    assert result.success
    assert len(set(result.data.flatten().tolist())) == 1
    assert [each.training for each in model.modules()] == [True, True, True]


def test_a_wrapped_model_is_run_by_its_wrapper(robust_ops):
    class OptimizedModule(nn.Module):
        """Is called as a compiled model is."""

        def __init__(self, inner):
            super().__init__()
            self._orig_mod, self.calls = inner, 0

        def forward(self, *args, **kwargs):
            self.calls += 1
            return self._orig_mod(*args, **kwargs)

    model = OptimizedModule(nn.Linear(2, 1))
    assert robust_ops.model_inference.safe_inference(model, torch.ones(4, 2)).success
    assert model.calls == 1
