"""Gradients are measured as NumPy does in float64, whatever they are made of, and named when they are out of bounds."""

import math
import random
import warnings

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from torchmagic.models.gradient_checks import (
    check_gradient_explosion,
    check_gradient_vanishing,
    gradients_of,
    total_norm,
)

NUMBERS = st.floats(-1e4, 1e4, width=32) | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf])
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128]


def holding(*gradients):
    """Return a model whose parameters have these gradients."""
    model = nn.Module()
    for place, gradient in enumerate(gradients):
        parameter = nn.Parameter(torch.zeros_like(gradient.detach(), layout=torch.strided))
        parameter.grad = gradient
        model.register_parameter(f"p{place}", parameter)
    return model


def magnitudes(gradient):
    values = gradient.detach()
    if values.is_complex():
        with np.errstate(all="ignore"):
            return np.abs(values.to(torch.complex128).reshape(-1).numpy())
    return values.to(torch.float64).reshape(-1).numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@given(lists=st.lists(st.lists(NUMBERS, min_size=1, max_size=30), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_statistics_are_those_of_numpy(dtype, lists):
    with warnings.catch_warnings(action="ignore"):
        gradients = [torch.tensor(each, dtype=torch.float64).to(dtype) for each in lists]
    if dtype.is_complex:
        gradients = [each * (0.6 - 0.8j) for each in gradients]
    found = gradients_of(holding(*gradients))
    for gradient, each in zip(gradients, found.values(), strict=True):
        values = magnitudes(gradient)
        finite = values[np.isfinite(values)]
        assert (each.elements, each.nans, each.infs) == (
            values.size,
            np.isnan(values).sum(),
            np.isinf(values).sum(),
        )
        assert each.zeros == (values == 0).sum()
        if not finite.size:
            assert math.isnan(each.mean)
            continue
        assert each.abs_max == pytest.approx(np.abs(finite).max(), rel=1e-6)
        assert each.mean == pytest.approx(finite.mean(), rel=1e-4, abs=1e-4)
        assert each.std == pytest.approx(finite.std(), rel=1e-4, abs=1e-4)
        if each.is_finite:
            assert each.norm == pytest.approx(np.linalg.norm(values), rel=1e-5)
        else:
            assert math.isnan(each.norm) == each.has_nan
            assert not math.isfinite(each.norm)


def trained():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    model(torch.randn(8, 4)).square().mean().backward()
    return model


def test_the_total_is_the_norm_that_clipping_sees():
    model = trained()
    wanted = torch.nn.utils.clip_grad_norm_(model.parameters(), math.inf)
    assert total_norm(gradients_of(model)) == pytest.approx(wanted.item(), rel=1e-6)
    assert total_norm(gradients_of(model).values()) == pytest.approx(wanted.item(), rel=1e-6)


def test_a_sparse_gradient_counts_by_the_sums_of_its_rows():
    table = nn.Embedding(10, 3, sparse=True)
    table(torch.tensor([1, 1, 4])).sum().backward()
    assert not table.weight.grad.is_coalesced()
    found = gradients_of(table)["weight"]
    assert (found.elements, found.norm) == (6, pytest.approx(math.sqrt(3 * 4 + 3 * 1)))
    assert not table.weight.grad.is_coalesced()


def test_gradients_of_odd_shapes_are_measured():
    square = torch.arange(6.0).reshape(2, 3)
    model = holding(torch.tensor(-3.0), torch.empty(0, 4), square.t(), square[:, ::2], torch.ones(1).expand(4))
    norms = [each.norm for each in gradients_of(model).values()]
    assert norms == pytest.approx([3, 0, math.sqrt(55), math.sqrt(0 + 4 + 9 + 25), 2])


def test_tied_parameters_count_once_and_those_without_a_gradient_not_at_all():
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False), nn.Linear(3, 1))
    model[1].weight = model[0].weight
    model[:2](torch.ones(1, 3)).sum().backward()
    assert list(gradients_of(model)) == ["0.weight"]


def test_names_are_those_of_the_model_inside_of_a_compiler():
    model = nn.Linear(2, 1)
    with warnings.catch_warnings(action="ignore"):
        compiled = torch.compile(model)
    model(torch.ones(1, 2)).sum().backward()
    assert list(gradients_of(compiled)) == ["weight", "bias"]


def test_the_models_of_a_pipeline_stand_before_the_names():
    parts = {"unet": trained(), "vae": nn.Linear(2, 2)}
    parts["copy"] = parts["unet"]
    assert list(gradients_of(parts)) == [f"unet.{name}" for name, _ in parts["unet"].named_parameters()]


def test_a_gradient_that_cannot_be_read_is_left_out():
    model = nn.Linear(2, 2, device="meta")
    model.weight.grad = torch.ones(2, 2, device="meta")
    assert gradients_of(model) == {}
    assert total_norm({}) == 0


def test_exploded_and_vanished_gradients_are_named():
    model = holding(
        torch.full((3,), 10.0),
        torch.full((4,), 5.0),
        torch.tensor([1.0, math.nan]),
        torch.tensor([1.0, -math.inf]),
        torch.full((3,), 1e-7),
        torch.zeros(2),
        torch.empty(0),
    )
    model.register_parameter("without", nn.Parameter(torch.ones(2)))
    assert check_gradient_explosion(model) == ["p0", "p2", "p3"]  # p1 has just the norm that is allowed
    assert check_gradient_explosion(model, threshold=9.99) == ["p0", "p1", "p2", "p3"]
    assert check_gradient_explosion(model, threshold=1000) == ["p2", "p3"]
    assert check_gradient_vanishing(model) == ["p4", "p5"]
    assert check_gradient_vanishing(model, threshold=1e-9) == ["p5"]


@pytest.mark.parametrize("threshold", [0, -1.0, math.nan, math.inf, "10", True, None])
@pytest.mark.parametrize("check", [check_gradient_explosion, check_gradient_vanishing])
def test_a_threshold_that_is_no_norm_is_refused_in_one_line(check, threshold):
    with pytest.raises(ValueError, match="a threshold is a gradient norm above 0") as raised:
        check(trained(), threshold)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("value", [torch.ones(2), None, nn.Linear, "model"])
def test_what_is_no_model_is_refused_in_one_line(value):
    with pytest.raises(TypeError, match="a model was wanted") as raised:
        gradients_of(value)
    assert "\n" not in str(raised.value)


def test_the_factor_of_a_scaler_is_taken_out():
    found = gradients_of(holding(torch.tensor([2.0, -4.0])))["p0"]
    shrunk = found.unscaled(2.0)
    assert (shrunk.norm, shrunk.mean, shrunk.abs_max) == (found.norm / 2, -0.5, 2.0)
    assert (shrunk.elements, shrunk.zeros) == (2, 0)


def test_nothing_is_changed_by_looking(kept, take_picture):
    model, batch = kept
    trainable = not any(map(torch.nn.parameter.is_lazy, model.parameters())) and not batch.is_meta
    if trainable:
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.grad = torch.randn_like(parameter)
    random.seed(0)
    before = take_picture(model, batch)
    gradients_of(model)
    check_gradient_explosion(model)
    check_gradient_vanishing(model)
    after = take_picture(model, batch)
    for part, was in before.items():
        assert after[part] == was, part
