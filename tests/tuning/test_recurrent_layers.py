"""Recurrent layers that a processor cannot run in lower precision stay in float32; which ones is found by trying."""

import contextlib

import pytest
import torch
from torch import nn

from torchmagic import optimize_model
from torchmagic.tuning import recurrent_layers

TOLD = "LSTM layers run in float32: this cpu cannot run them in bfloat16"
KINDS = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN_TANH": nn.RNN, "RNN_RELU": nn.RNN}


class Layer(nn.LSTM):
    """Remembers what its forward was given, and whether it ran under autocast."""

    def forward(self, x, state=None):
        self.seen = x.data.dtype, torch.is_autocast_enabled("cpu")
        return super().forward(x, state)


class Reader(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.embedding, self.layer, self.head = nn.Linear(4, 5), layer, nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.layer(self.embedding(x))[0])


def reader():
    torch.manual_seed(0)
    return Reader(Layer(5, 6)), torch.randn(7, 2, 4)


@pytest.fixture(params=[True, False], ids=["a processor that has the kernels", "one that has none"])
def has_kernels(monkeypatch, request):
    monkeypatch.setattr(recurrent_layers, "runs_lower", lambda *_: request.param)
    return request.param


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setattr(recurrent_layers, "runs_lower", lambda *_: False)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mode", KINDS)
def test_what_is_found_by_trying_is_what_layers_do_here(mode, dtype):
    options = {"nonlinearity": mode.removeprefix("RNN_").lower()} if KINDS[mode] is nn.RNN else {}
    layer = KINDS[mode](5, 6, **options)
    try:
        with torch.autocast("cpu", dtype=dtype):
            outputs = layer(torch.randn(7, 2, 5))[0]
        outputs.float().sum().backward()
        works = True
    except RuntimeError:
        works = False
    assert recurrent_layers.runs_lower(mode, "cpu", dtype) is works


@pytest.mark.parametrize("mode", KINDS)
def test_what_is_tried_fails_for_its_precision_alone(mode, monkeypatch):
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    assert recurrent_layers.runs_lower.__wrapped__(mode, "cpu", torch.bfloat16)


def test_trying_changes_nothing_and_can_be_done_anywhere(state_of, are_equal, case):
    training = case("rnn").training
    before = state_of(training)
    found = set()
    for context in (torch.enable_grad(), torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16)):
        recurrent_layers.runs_lower.cache_clear()
        with context:
            found.add(recurrent_layers.runs_lower("LSTM", "cpu", torch.bfloat16))
    assert len(found) == 1
    assert are_equal(state_of(training), before)


def test_layers_run_under_autocast_where_they_can_and_in_float32_where_not(has_kernels, monkeypatch):
    model, x = reader()
    monkeypatch.setattr(nn.LSTM, "forward", lambda _self, x, _state: (torch.cat([x, x[..., :1]], -1), None))
    found = optimize_model(model, "amp")
    assert found(x).dtype is torch.float32
    assert model.layer.seen == ((torch.bfloat16, True) if has_kernels else (torch.float32, False))
    assert found.optimization_metrics.notes == (() if has_kernels else (TOLD,))
    assert found.optimization_metrics.amp_enabled


@pytest.mark.usefixtures("without_kernels")
def test_the_rest_of_the_model_runs_in_lower_precision():
    model, x = reader()
    found = optimize_model(model, "amp")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        embedded = model.embedding(x)
    states = model.layer(embedded.float())[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = model.head(states).float()
    assert torch.equal(found(x), expected)
    assert not torch.equal(expected, model(x))


@pytest.mark.usefixtures("without_kernels")
def test_states_packed_sequences_and_evaluation_run_as_well():
    layer = Layer(5, 6)

    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.state, self.layer = nn.Linear(5, 6), layer

        def forward(self, x):
            state = self.state(x[:1])
            packed = nn.utils.rnn.pack_padded_sequence(x.bfloat16(), [7, 3])
            return self.layer(packed, (state, state))[0].data

    model, x = Packed(), torch.randn(7, 2, 5)
    found = optimize_model(model, "amp")
    found(x).sum().backward()
    assert layer.seen == (torch.float32, False)
    assert all(each.grad is not None for each in model.parameters())
    with torch.no_grad():
        assert found.eval()(x).shape == (10, 6)


@pytest.mark.usefixtures("without_kernels")
def test_a_layer_has_its_own_forward_again_however_the_call_ends():
    model, x = reader()
    before = dict(vars(model.layer))
    found = optimize_model(model, "amp")
    assert dict(vars(model.layer)) == before
    with pytest.raises(RuntimeError):
        found(x[..., :2])
    assert dict(vars(model.layer)) == before
    found(x)
    assert vars(model.layer).keys() - before.keys() == {"seen"}


@pytest.mark.usefixtures("without_kernels")
def test_a_model_of_nothing_else_is_left_as_it_is():
    layer = nn.LSTM(4, 5)
    found = optimize_model(layer, "amp")
    assert found.optimization_metrics.notes == (f"amp: {TOLD}, and the model has no others",)
    assert not found.optimization_metrics.amp_enabled
    x = torch.randn(7, 2, 4)
    assert torch.equal(found(x)[0], layer(x)[0])


def test_no_layer_is_tried_in_a_model_without_any(monkeypatch):
    tried = []
    monkeypatch.setattr(recurrent_layers, "runs_lower", lambda *args: tried.append(args))
    assert optimize_model(nn.Linear(2, 2), "amp").optimization_metrics.notes == ()
    assert tried == []
