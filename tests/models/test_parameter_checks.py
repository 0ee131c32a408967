"""A check of a model names what is wrong with its parameters and outputs, and is silent about what is sound."""

import math

import pytest
import torch
from torch import nn

from torchmagic.models.parameter_checks import validate_model


def sound():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))


def test_a_sound_model_is_valid():
    found = validate_model(sound(), torch.randn(3, 4))
    assert found
    assert found.is_valid
    assert found.outputs_finite is True
    assert found.problems == ()
    assert found.to_dict()["is_valid"] is True


def test_without_inputs_nothing_is_said_of_outputs():
    assert validate_model(sound()).outputs_finite is None


def test_parameters_that_are_not_finite_are_named():
    model = sound()
    with torch.no_grad():
        model[2].weight[0, 0] = math.nan
    found = validate_model(model, torch.randn(3, 4))
    assert not found
    assert not found.parameters_finite
    assert found.dtypes_consistent
    assert found.problems[0].startswith("2.weight: 1 of 10 values")
    assert found.outputs_finite is False
    assert found.problems[1] == "output: 3 NaN of 6 values"


def test_a_dtype_that_differs_from_its_siblings_is_named():
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)])
    model[3].double()
    found = validate_model(model)
    assert not found.dtypes_consistent
    assert "3.weight" in found.problems[0]
    assert "float64" in found.problems[0]


def test_a_part_left_on_the_meta_device_is_named():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4, device="meta"))
    found = validate_model(model)
    assert not found.devices_consistent
    assert "1.weight" in found.problems[0]


def test_modules_in_a_plain_list_and_memory_in_common_are_named():
    model = sound()
    model.hidden = [nn.Linear(2, 2)]
    model[2].bias = nn.Parameter(model[0].bias.data[:2])
    found = validate_model(model)
    assert (found.all_registered, found.memory_separate) == (False, False)
    assert len(found.problems) == 2


def test_tied_weights_are_a_remark():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    found = validate_model(model)
    assert found
    assert "tied" in found.remarks[0]


class Named(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.layer, self.value = nn.Linear(2, 2), value

    def forward(self, x):
        return {"logits": self.layer(x), "extra": [x * 0 + self.value]}


def test_an_output_is_named_by_its_place():
    found = validate_model(Named(math.inf), torch.zeros(1, 2))
    assert found.problems == ("output extra.0: 2 infinite of 2 values",)


def test_minus_infinity_as_masks_have_it_is_a_remark():
    found = validate_model(Named(-math.inf), torch.zeros(1, 2))
    assert found
    assert found.outputs_finite
    assert found.remarks == ("output extra.0: 2 minus infinity of 2 values",)


def test_what_a_forward_raises_is_told_in_one_line():
    found = validate_model(sound(), torch.randn(3, 7))
    assert not found
    assert found.outputs_finite is None
    assert "mat1 and mat2" in found.error
    assert "\n" not in found.problems[0]


def test_a_batch_of_one_is_looked_at_in_evaluation_mode():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    found = validate_model(model, torch.randn(1, 2))
    assert found
    assert found.outputs_finite
    assert "outputs are of evaluation mode" in found.remarks[-1]
    assert model.training


def test_a_size_will_do_for_an_input():
    assert validate_model(sound(), input_size=(2, 4)).outputs_finite
    with pytest.raises(ValueError, match="inputs and an input size came; give one"):
        validate_model(sound(), torch.ones(1, 4), input_size=(1, 4))


def test_a_pipeline_is_checked_without_inputs():
    broken = nn.Linear(2, 2)
    with torch.no_grad():
        broken.bias.fill_(math.inf)
    found = validate_model({"unet": sound(), "vae": broken})
    assert found.problems == ("vae.bias: 2 of 2 values are NaN or infinite",)
    with pytest.raises(ValueError, match="several models came and one input"):
        validate_model({"unet": sound(), "vae": broken}, torch.ones(1, 4))


def test_nothing_of_any_model_is_changed(kept, take_picture):
    model, batch = kept
    before = take_picture(model, batch)
    validate_model(model, batch)
    after = take_picture(model, batch)
    for part, was in before.items():
        assert after[part] == was, part


def test_gradients_stay_as_they_are():
    model = sound()
    model(torch.randn(3, 4)).sum().backward()
    before = [(id(each.grad), each.grad.clone()) for each in model.parameters()]
    validate_model(model, torch.randn(3, 4))
    for parameter, (identity, values) in zip(model.parameters(), before, strict=True):
        assert id(parameter.grad) == identity
        assert torch.equal(parameter.grad, values)
