"""An optimised model is another module with the same weights; the decorator hands such models on."""

import copy
import gc
import io
import pickle
import weakref

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic import OptimizationMode, OptimizedModel, optimize_model

MODES = [each for each in OptimizationMode if each not in ("compilation", "full_optimization")]
OPTIONS = {"threads": {"num_threads": 2}}


class Asking(nn.Module):
    """Tells what surrounds its forward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.seen = {}

    def forward(self, x):
        self.seen["threads"] = torch.get_num_threads()
        self.seen["dtype"] = self.layer(x).dtype
        self.seen["inference"] = torch.is_inference_mode_enabled()
        self.seen["training"] = self.training
        return {"logits": self.layer(x), "hidden": (x, "text")}


@pytest.mark.parametrize("mode", MODES)
def test_it_is_another_module_with_the_same_weights_under_the_same_names(case, mode):
    model = case("cnn").training.model
    before = {name: dict(vars(each)) for name, each in model.named_modules()}
    found = optimize_model(model, mode)
    assert isinstance(found, OptimizedModel)
    assert found is not model
    assert found.original_model is model
    assert dict(found.named_parameters()) == dict(model.named_parameters())
    assert list(found.state_dict()) == list(model.state_dict())
    assert [name for name, _ in found.named_modules()] == [name for name, _ in model.named_modules()]
    assert list(found.buffers()) == list(model.buffers())
    assert {name: dict(vars(each)) for name, each in model.named_modules()} == before


@pytest.mark.parametrize("mode", [each for each in MODES if each != "inference"])
@pytest.mark.parametrize("name", ["mlp", "cnn", "transformer", "rnn", "tied"])
def test_outputs_and_gradients_are_those_of_the_model(case, mode, name):
    one = case(name)
    model, (x, y) = one.training.model, one.batches[0]
    other = copy.deepcopy(model)
    found = optimize_model(model, mode, **OPTIONS.get(mode, {}))
    tolerance = {"rtol": 0.1, "atol": 0.05} if mode == "amp" else {"rtol": 1e-4, "atol": 1e-5}
    for run in (found, other):
        nn.functional.cross_entropy(run(x), y).backward()
    assert found(x).dtype is torch.float32
    torch.testing.assert_close(found(x), other(x), **tolerance)
    for one_gradient, other_gradient in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one_gradient.grad, other_gradient.grad, **tolerance)


def test_training_one_trains_the_other(case):
    one = case("mlp")
    model, found = one.training.model, optimize_model(one.training.model, "amp")
    optimizer = torch.optim.SGD(found.parameters(), lr=0.1)
    before = model[0].weight.clone()
    found(one.batches[0][0]).sum().backward()
    optimizer.step()
    assert not torch.equal(model[0].weight, before)


def test_states_are_loaded_and_saved_in_both_directions(case):
    model, other = case("cnn").training.model, case("cnn").training.model
    nn.init.zeros_(model.head.weight)
    found = optimize_model(other, "channels_last")
    assert found.load_state_dict(model.state_dict()).missing_keys == []
    assert not other.head.weight.any()
    file = io.BytesIO()
    torch.save(found.state_dict(), file)
    file.seek(0)
    model.load_state_dict(torch.load(file))


def test_within_another_module_the_names_are_those_of_the_model(case):
    model = case("cnn").training.model
    outer, plain = nn.Sequential(optimize_model(model, "amp")), nn.Sequential(model)
    assert list(outer.state_dict()) == list(plain.state_dict())
    outer.load_state_dict(plain.state_dict())


def test_modes_devices_and_attributes_are_the_models_own(case):
    model = case("cnn").training.model
    found = optimize_model(model, "none")
    found.eval()
    assert not model.training
    assert not model.head.training
    model.train()
    assert found.training
    found.rate = 3
    assert model.rate == 3
    found.double()
    assert model.head.weight.dtype is torch.float64
    with pytest.raises(AttributeError, match="unheard_of"):
        _ = found.unheard_of
    recurrent = nn.LSTM(3, 3)
    optimize_model(recurrent, "none").double()
    recurrent(torch.zeros(2, 2, 3, dtype=torch.float64))


def test_making_one_leaves_the_mode_of_the_model(case):
    model = case("cnn").training.model.eval()
    assert not optimize_model(model, "amp").training
    assert not model.training


def test_hooks_of_the_model_run_once(case):
    one = case("mlp")
    calls = []
    one.training.model.register_forward_hook(lambda *_: calls.append(1))
    optimize_model(one.training.model, "amp")(one.batches[0][0])
    assert calls == [1]


def test_a_copy_and_a_pickle_are_optimised_anew_and_share_nothing(case):
    one = case("mlp")
    found = optimize_model(one.training.model, "amp")
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):  # noqa: S301 - our own
        assert other.optimization_mode is OptimizationMode.AMP
        for parameter in other.parameters():
            nn.init.zeros_(parameter)
        assert not other(one.batches[0][0]).any()
        assert found(one.batches[0][0]).any()


def test_amp_lowers_the_forward_and_raises_the_outputs():
    model = Asking()
    found = optimize_model(model, "amp")
    outputs = found(torch.ones(2, 4))
    assert model.seen["dtype"] is torch.bfloat16
    assert outputs["logits"].dtype is torch.float32
    assert outputs["hidden"][1] == "text"
    assert not torch.is_autocast_enabled("cpu")
    assert found.optimization_metrics.amp_enabled


def test_threads_are_set_for_a_call_alone():
    model, before = Asking(), torch.get_num_threads()
    optimize_model(model, "threads", num_threads=before + 1)(torch.ones(2, 4))
    assert model.seen["threads"] == before + 1
    assert torch.get_num_threads() == before


def test_inference_keeps_nothing_and_leaves_every_part_in_its_mode():
    model = nn.Sequential(Asking(), nn.Identity())
    model[1].eval()
    model[0].layer.eval()
    outputs = optimize_model(model, "inference")(torch.ones(2, 4))
    assert outputs["logits"].is_inference()
    assert model[0].seen["inference"]
    assert not model[0].seen["training"]
    assert [each.training for each in model.modules()] == [True, True, False, False]


def test_inference_of_a_model_with_dropout_and_norm_is_that_of_evaluation(case):
    for name in ("dropout", "cnn"):
        one = case(name)
        model, x = one.training.model, one.batches[0][0]
        state = copy.deepcopy(model.state_dict())
        found = optimize_model(model, "inference")(x)
        assert torch.equal(found, model.eval()(x))
        assert all(torch.equal(each, state[name]) for name, each in model.state_dict().items())


@pytest.mark.parametrize(
    ("mode", "model", "reason"),
    [
        ("channels_last", nn.Linear(2, 2), "no convolution"),
        ("amp", nn.Linear(2, 2).double(), "the parameters are float64"),
        ("amp", nn.ReLU(), "not floating point"),
        ("fused_optimizer", nn.Linear(2, 2), "use PyTorchOptimizer"),
        ("gradient_accumulation", nn.Linear(2, 2), "use PyTorchOptimizer"),
    ],
)
def test_a_mode_that_does_not_apply_says_why_and_leaves_the_model_as_it_is(mode, model, reason):
    found = optimize_model(model, mode)
    assert any(reason in note for note in found.optimization_metrics.notes)
    x = torch.ones(2, 2, dtype=next(model.parameters(), torch.ones(1)).dtype)
    assert torch.equal(found(x), model(x))


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((nn.Linear(2, 2), "faster"), ValueError, "'faster' is no optimization mode; take one of none, amp"),
        ((3,), TypeError, "a int came; give a torch.nn.Module"),
        ((nn.Linear,), TypeError, "a type came"),
    ],
)
def test_wrong_input_is_told_in_one_line(arguments, error, match):
    with pytest.raises(error, match=match) as caught:
        optimize_model(*arguments)
    assert "\n" not in str(caught.value)


def test_an_unknown_option_is_told():
    with pytest.raises(ValueError, match=r"there is no option 'micro'; there are .*micro_batches"):
        optimize_model(nn.Linear(2, 2), "amp", micro=2)


def test_a_mode_is_named_as_one_likes():
    for name in ("AMP", "amp", OptimizationMode.AMP):
        assert optimize_model(nn.Linear(2, 2), name).optimization_mode is OptimizationMode.AMP


def test_optimising_twice_is_optimising_the_model():
    model = nn.Linear(2, 2)
    assert optimize_model(optimize_model(model, "amp"), "none").original_model is model


def test_a_decorated_function_gets_optimised_models():
    given = []

    @optimize_model(optimization_mode=OptimizationMode.AMP)
    def inference_step(model, data, *, other=None, criterion=None):
        """Inference."""
        given.append((model, other, criterion))
        return model(data)

    model, criterion = nn.Linear(2, 2), nn.CrossEntropyLoss(weight=torch.ones(2))
    for _ in range(2):
        inference_step(model, torch.ones(1, 2), other=model, criterion=criterion)
    assert given[0][0] is given[0][1] is given[1][0]
    assert given[0][0].optimization_mode is OptimizationMode.AMP
    assert given[0][0].weight is model.weight
    assert given[0][2] is criterion
    assert (inference_step.__name__, inference_step.__doc__) == ("inference_step", "Inference.")


def test_a_decorator_without_a_call_does_all():
    @torchmagic.optimize_model(optimization_mode="none")
    def one(model):
        return model.optimization_mode

    assert one(nn.Linear(2, 2)) is OptimizationMode.NONE


def test_a_decorated_function_keeps_no_model_alive():
    @optimize_model(optimization_mode="amp")
    def step(model, data):
        return model(data)

    model = Asking()
    step(model, torch.ones(1, 4))
    weight, gone = weakref.ref(model.layer.weight), weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert weight() is None


def test_the_model_of_a_decorated_function_may_change_its_attributes():
    @optimize_model(optimization_mode="none")
    def step(model, data):
        return model(data)

    model = Asking()
    step(model, torch.ones(1, 4))
    model.layer = nn.Linear(4, 7)
    model.eval()
    assert step(model, torch.ones(1, 4))["logits"].shape == (1, 7)
    assert not model.seen["training"]
