"""Running a model for a look at it changes nothing: not a bit, not a mode, not a hook."""

import random
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.debuggers.modelinfo import modelinfo


def test_nothing_of_a_model_its_input_or_torch_is_changed(kept, take_picture):
    model, batch = kept
    before = take_picture(model, batch)
    info = modelinfo(model, batch=batch)
    after = take_picture(model, batch)
    is_broken = any(isinstance(each, nn.Linear) and each.in_features == 3 for each in model.modules())
    assert bool(info.record.forward.error) == is_broken
    for part, was in before.items():
        assert after[part] == was, part


def test_the_model_trains_as_if_nobody_had_looked(kept):
    model, batch = kept
    if any(torch.nn.parameter.is_lazy(each) for each in model.parameters()) or batch.is_meta:
        pytest.skip("cannot be trained as it is")
    twin_state = [each.detach().clone() for each in model.parameters()]
    modelinfo(model, batch=batch)
    assert all(torch.equal(each, was) for each, was in zip(model.parameters(), twin_state, strict=True))
    assert all(each.grad is None for each in model.parameters())


def test_gradients_stay_the_same_objects_with_the_same_bits(convolutional):
    convolutional(torch.rand(2, 3, 8, 8)).sum().backward()
    before = [(id(each.grad), each.grad.clone()) for each in convolutional.parameters()]
    modelinfo(convolutional, input_size=(2, 3, 8, 8))
    for parameter, (identity, values) in zip(convolutional.parameters(), before, strict=True):
        assert id(parameter.grad) == identity
        assert torch.equal(parameter.grad, values)


def test_hooks_of_the_users_do_not_run_and_stay(convolutional):
    ran = []
    handles = [
        convolutional.stem.register_forward_hook(lambda *_: ran.append("forward")),
        convolutional.register_forward_pre_hook(lambda *_: ran.append("before")),
        convolutional.head.weight.register_hook(lambda *_: ran.append("gradient")),
    ]
    info = modelinfo(convolutional, input_size=(2, 3, 8, 8))
    assert ran == []
    assert "2 hooks of the model did not run, since hooks may change other things" in info.record.notes
    convolutional(torch.rand(2, 3, 8, 8)).sum().backward()
    assert ran == ["before", "forward", "gradient"]
    for handle in handles:
        handle.remove()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_the_grad_mode_it_was_called_in_stays(convolutional, mode):
    with mode():
        before = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        info = modelinfo(convolutional, input_size=(2, 3, 8, 8))
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before
    assert info.record.forward.error == ""
    assert info.record.forward.saved_bytes > 0


@pytest.mark.parametrize("enabled", [True, False])
def test_the_fast_path_of_transformers_stays_on_or_off(enabled):
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(enabled)
    modelinfo(nn.Linear(2, 2), input_size=(1, 2))
    assert torch.backends.mha.get_fastpath_enabled() == enabled
    torch.backends.mha.set_fastpath_enabled(before)


def test_autocast_stays_and_is_in_force():
    with torch.autocast("cpu", torch.bfloat16):
        info = modelinfo(nn.Linear(4, 3), input_size=(2, 4))
        assert torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    assert info.record.forward.error == ""


def test_an_input_that_asks_for_a_gradient_gets_none_and_no_hook():
    x = torch.rand(2, 4, requires_grad=True)
    modelinfo(nn.Linear(4, 3), batch=x)
    assert x.grad is None
    assert x.is_leaf
    assert not x._backward_hooks


def test_a_loader_goes_on_as_if_nobody_had_taken_a_batch():
    generator = torch.Generator().manual_seed(5)
    data = TensorDataset(torch.arange(32.0).reshape(16, 2), torch.arange(16))
    loader = DataLoader(data, batch_size=4, shuffle=True, generator=generator)
    torch.manual_seed(1)
    model, under_way = nn.Linear(2, 1), iter(loader)
    first = next(under_way)
    states = (generator.get_state(), torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate())  # noqa: NPY002
    info = modelinfo(model, batch=loader)
    assert info.record.forward.call == "model(next(iter(loader))[0])"
    assert info.record.forward.inputs == "4×2"
    assert torch.equal(generator.get_state(), states[0])
    assert torch.equal(torch.get_rng_state(), states[1])
    assert (np.random.get_state()[1] == states[2]).all()  # noqa: NPY002
    assert random.getstate() == states[3]
    rest = [batch[1] for batch in under_way]
    assert sorted([*first[1].tolist(), *torch.cat(rest).tolist()]) == list(range(16))


def test_a_loader_with_workers_starts_none(monkeypatch):
    data = TensorDataset(torch.rand(8, 2))
    loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True)
    monkeypatch.setattr("torch.multiprocessing.get_context", lambda *_: pytest.fail("a worker was started"))
    info = modelinfo(nn.Linear(2, 1), batch=loader)
    assert info.record.forward.inputs == "4×2"
    assert loader._iterator is None
    assert loader.num_workers == 2


def test_an_optimizer_is_only_read(convolutional):
    optimizer = torch.optim.AdamW(convolutional.parameters())
    modelinfo(convolutional, input_size=(2, 3, 8, 8), optimizer=optimizer)
    assert not optimizer.state
    assert [id(each) for each in optimizer.param_groups[0]["params"]] == [id(p) for p in convolutional.parameters()]


def test_what_a_forward_prints_and_warns_is_not_shown(capsys):
    class Loud(nn.Linear):
        def forward(self, x):
            import warnings  # noqa: PLC0415

            print("here")  # noqa: T201
            warnings.warn("there", stacklevel=1)
            return super().forward(x)

    info = modelinfo(Loud(2, 2), input_size=(1, 2))
    assert info.record.forward.error == ""
    assert capsys.readouterr().out == ""


def test_an_interrupt_is_the_users_and_leaves_nothing(take_picture):
    class Interrupting(nn.Module):
        def forward(self, _):
            raise KeyboardInterrupt

    model = nn.Sequential(nn.Linear(2, 2), Interrupting())
    before = take_picture(model)
    with pytest.raises(KeyboardInterrupt):
        modelinfo(model, input_size=(1, 2))
    assert take_picture(model) == before


LAYERS = {
    "linear": lambda: nn.Linear(6, 6),
    "batch norm": lambda: nn.BatchNorm1d(6),
    "dropout": lambda: nn.Dropout(0.5),
    "noise": nn.RReLU,
    "in place": lambda: nn.ReLU(inplace=True),
    "normed": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 6)),
    "spectral": lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(6, 6)),
    "double": lambda: nn.Bilinear(6, 6, 6),
    "lazy": lambda: nn.LazyLinear(6),
}


class Chain(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.layers = nn.ModuleList(LAYERS[kind]() for kind in kinds)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, x) if isinstance(layer, nn.Bilinear) else layer(x)
        return x


@settings(deadline=None, max_examples=25)
@given(
    kinds=st.lists(st.tuples(st.sampled_from(list(LAYERS)), st.booleans(), st.booleans()), min_size=1, max_size=6),
    shared=st.booleans(),
)
def test_nothing_changes_in_any_chain_of_layers_modes_and_frozen_parts(take_picture, kinds, shared):
    torch.manual_seed(0)
    model = Chain([kind for kind, _, _ in kinds])
    for layer, (_, training, trainable) in zip(list(model.layers), kinds, strict=True):
        layer.train(training)
        if not isinstance(layer, nn.LazyLinear):
            layer.requires_grad_(trainable)
    if shared:
        model.layers.append(model.layers[0])
    x = torch.rand(3, 6)
    before = take_picture(model, x)
    info = modelinfo(model, batch=x)
    assert take_picture(model, x) == before
    assert info.record.forward.error == ""


def test_a_look_does_not_make_python_forget_what_it_has_warned_of():
    model = nn.Linear(2, 2)
    registry = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
            modelinfo(model, input_size=(1, 2))
    assert len(shown) == 1
