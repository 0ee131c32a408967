"""What is told of a tensor and of a model's parameters is what NumPy tells, of every kind of tensor."""

import math
import random
import warnings

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from torchmagic.api.debugging.analysis import analyze_model_parameters, analyze_tensor

NUMBERS = st.floats(-1e4, 1e4, width=32) | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf])
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2]


def assert_agrees(info, values):
    finite = values[np.isfinite(values)]
    assert (info.num_nan, info.num_inf) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert (info.has_nan, info.has_inf) == (bool(info.num_nan), bool(info.num_inf))
    assert info.num_zero == (values == 0).sum()
    if not finite.size:
        assert (info.mean_value, info.std_value, info.min_value, info.max_value) == (None,) * 4
        return
    assert info.mean_value == pytest.approx(finite.mean(), rel=1e-9, abs=1e-9)
    assert info.std_value == pytest.approx(finite.std(ddof=1) if finite.size > 1 else 0, rel=1e-6, abs=1e-6)
    assert (info.min_value, info.max_value) == (pytest.approx(finite.min()), pytest.approx(finite.max()))
    assert info.norm == pytest.approx(np.linalg.norm(finite), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("dtype", FLOATS)
@given(numbers=st.lists(NUMBERS, min_size=1, max_size=40))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_statistics_are_those_of_numpy(dtype, numbers):
    with warnings.catch_warnings(action="ignore"):
        tensor = torch.tensor(numbers, dtype=torch.float64).to(dtype)
    info = analyze_tensor(tensor, "x")
    assert_agrees(info, tensor.double().numpy())
    assert (info.name, info.shape, info.dtype) == ("x", (len(numbers),), str(dtype).removeprefix("torch."))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.uint8, torch.bool])
@given(numbers=st.lists(st.integers(0, 1), min_size=1, max_size=40))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whole_numbers_are_measured(dtype, numbers):
    assert_agrees(analyze_tensor(torch.tensor(numbers).to(dtype)), np.array(numbers, dtype=np.float64))


@given(numbers=st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=20))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_complex_numbers_count_by_their_magnitudes(numbers):
    tensor = torch.tensor(numbers, dtype=torch.complex128) * (0.6 - 0.8j)
    assert_agrees(analyze_tensor(tensor), np.abs(tensor.numpy()))


def test_odd_shapes_are_measured():
    square = torch.arange(12.0).reshape(3, 4)
    for tensor in (square.t(), square[:, ::2], square.flip(0), torch.tensor(2.5), square[1:2].expand(5, 4)):
        assert_agrees(analyze_tensor(tensor), tensor.double().numpy().reshape(-1))
        assert analyze_tensor(tensor).shape == tuple(tensor.shape)


def test_an_empty_tensor_has_neither_values_nor_anomalies():
    info = analyze_tensor(torch.empty(0, 3))
    assert (info.mean_value, info.has_nan, info.has_inf, info.memory_usage) == (None, False, False, 0)


def test_a_sparse_tensor_is_told_by_what_it_stores():
    dense = torch.zeros(1000)
    dense[0], dense[2] = 3.0, 5.0
    info = analyze_tensor(dense.to_sparse())
    assert (info.mean_value, info.num_elements) == (4, 1000)
    assert info.memory_usage == (2 * 4 + 2 * 8) / 2**20
    assert "2 stored values" in info.notes[0]


def test_what_has_no_values_is_told_without_them():
    for tensor in (torch.empty(3, device="meta"), nn.LazyLinear(2).weight):
        info = analyze_tensor(tensor)
        assert info.mean_value is None
        assert info.notes


def test_memory_is_in_mebibytes():
    assert analyze_tensor(torch.zeros(1024, 1024)).memory_usage == 4
    assert analyze_tensor(torch.zeros(1024, 1024, dtype=torch.bfloat16)).memory_usage == 2


def test_the_norm_of_a_gradient_comes_with_its_tensor():
    weight = torch.ones(3, requires_grad=True)
    assert analyze_tensor(weight).grad_norm is None
    (weight * torch.tensor([3.0, 4.0, 0.0])).sum().backward()
    info = analyze_tensor(weight)
    assert (info.grad_norm, info.requires_grad, info.is_leaf) == (5, True, True)
    weight.grad[0] = math.nan
    assert math.isnan(analyze_tensor(weight).grad_norm)


def test_a_tensor_inside_of_a_graph_is_read_without_a_warning():
    result = torch.ones(2, requires_grad=True) * 2
    assert (analyze_tensor(result).grad_norm, analyze_tensor(result).is_leaf) == (None, False)


def test_numpy_arrays_will_do():
    assert analyze_tensor(np.array([1.0, 3.0])).mean_value == 2


@pytest.mark.parametrize("value", [None, "x", [1.0], 3.0, nn.Linear(1, 1)])
def test_what_is_no_tensor_is_refused_in_one_line(value):
    with pytest.raises(TypeError, match="was wanted") as raised:
        analyze_tensor(value)
    assert "\n" not in str(raised.value)


def test_the_dictionary_holds_plain_values():
    told = analyze_tensor(torch.tensor([1.0, math.inf]), "x").to_dict()
    assert (told["name"], told["has_inf"], told["max_value"]) == ("x", True, 1.0)
    assert not any(isinstance(each, torch.Tensor) for each in told.values())


def test_parameters_are_told_by_name_and_tied_ones_once():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    with torch.no_grad():
        model[1].bias[1] = math.nan
    found = analyze_model_parameters(model)
    assert list(found) == ["0.weight", "0.bias", "1.bias"]
    assert found["0.weight"].also == ("1.weight",)
    assert [name for name, info in found.items() if info.has_nan] == ["1.bias"]
    assert_agrees(found["0.weight"], model[0].weight.detach().double().numpy().reshape(-1))


def test_the_parameters_of_a_pipeline_carry_its_names():
    assert list(analyze_model_parameters({"unet": nn.Linear(1, 1)})) == ["unet.weight", "unet.bias"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_nothing_is_changed_by_looking(dtype):
    tensor = torch.arange(6).reshape(2, 3).to(dtype).requires_grad_()
    tensor.grad = torch.ones_like(tensor)
    gradient, bits, version = tensor.grad, tensor.detach().clone(), tensor._version
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    analyze_tensor(tensor, "x")
    assert tensor.grad is gradient
    assert torch.equal(tensor.detach(), bits)
    assert (tensor._version, gradient._version) == (version, 0)
    assert torch.equal(gradient, torch.ones_like(gradient))
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert np.random.get_state()[1].tolist() == states[2]  # noqa: NPY002
