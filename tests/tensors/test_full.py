"""This file is the proof that quantiles of all values, and the compiled pass, say what NumPy says in float64."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.tensors import compiled, cores, sample, spread
from torchmagic.tensors.joining import joined
from torchmagic.tensors.measure import measure
from torchmagic.tensors.ranks import WIDE_ERROR, exact_quantiles
from torchmagic.tensors.sample import SHARES
from torchmagic.tensors.scan import scanned
from torchmagic.tensors.scan_device import scanned_on_device

EXACT = [torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2, torch.int64, torch.int8, torch.uint8]
NUMBERS = st.lists(
    st.floats(-(2.0**99), 2.0**99, width=32) | st.sampled_from([0.0, 1.0, math.nan, math.inf]), min_size=1
)


def made(numbers, dtype=torch.float32):
    return torch.tensor(numbers, dtype=dtype, device="cpu")


def quantiles_of(values):
    finite = values[torch.isfinite(values)] if values.is_floating_point() else values
    numbers = finite.to(torch.float64).numpy()
    return exact_quantiles(values, float(numbers.min()), float(numbers.max())), np.quantile(numbers, SHARES)


@pytest.mark.parametrize("dtype", EXACT)
def test_quantiles_of_all_values_are_exact(dtype, monkeypatch):
    monkeypatch.setattr(cores, "LEAST_SHARED", 20)
    monkeypatch.setattr(cores, "CPU_PIECE", 50)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    values = (torch.randn(5000, generator=torch.Generator("cpu").manual_seed(0), device="cpu") * 30).abs().to(dtype)
    found, expected = quantiles_of(values)
    assert [value for _, value in found] == pytest.approx(expected.tolist(), rel=1e-12)


@given(numbers=NUMBERS)
def test_quantiles_of_any_float32_are_exact(numbers):
    values = made(numbers)
    if torch.isfinite(values).any():
        found, expected = quantiles_of(values)
        peak = float(values[torch.isfinite(values)].abs().max())
        assert [value for _, value in found] == pytest.approx(expected.tolist(), rel=1e-6, abs=1e-12 * peak)


def test_quantiles_of_float64_and_of_far_apart_whole_numbers_keep_to_the_stated_error():
    for values in (made([-7.1, 1e-9, math.pi, 1e300], torch.float64), made([-(2**62), 5, 2**40, 2**62], torch.int64)):
        found, expected = quantiles_of(values)
        span = 1.0 if values.is_floating_point() else 2.0**63 * WIDE_ERROR
        assert [value for _, value in found] == pytest.approx(expected.tolist(), rel=WIDE_ERROR, abs=span)


def test_full_leaves_no_sample(monkeypatch):
    monkeypatch.setattr(sample, "SAMPLE_SIZE", 64)
    monkeypatch.setattr(spread, "SAMPLE_SIZE", 64)
    monkeypatch.setattr(spread, "EXACT_HISTOGRAM", 64)
    values = torch.arange(1000.0, device="cpu")
    sampled, bars = measure(values)
    assert (sampled.num_sampled, bars.num_sampled) == (64, 64)
    full, bars = measure(values, full=True)
    assert (full.num_sampled, bars.num_sampled, sum(bars.counts)) == (0, 0, 1000)
    assert full.median == 499.5


def _broken(values):
    values[5], values[69_999], values[30_000] = math.nan, math.inf, -math.inf
    return values


def _with(values, place, value):
    values[place] = value
    return values


def _minus_nan(values):
    values.view(torch.int32)[40_000] = -1
    return values


MADE = {
    "plain": lambda values: values,
    "broken": _broken,
    "far": lambda values: values + 1e6,
    "equal": lambda values: torch.full_like(values, 0.1),
    "tiny": lambda values: values * 1e-40,
    "huge": lambda values: values * 1e38,
    "all_nan": lambda values: torch.full_like(values, math.nan),
    "view": lambda values: torch.complex(values, values).imag,
    "above": lambda values: values.abs() + 0.25,
    "below": lambda values: -values.abs() - 0.25,
    "minus_nan": _minus_nan,
    "minus_inf": lambda values: _with(-values.abs() - 1, 40_000, -math.inf),
    "no_zero": lambda values: _with(values, values == 0, 1e-30),
    "up_to_zero": lambda values: _with(-values.abs(), values == 0, 0.0),
    "down_to_minus_zero": lambda values: _with(values.abs(), values == 0, -0.0),
    # What is left over after whole vectors.
    "least_last": lambda values: _with(values, -1, -50.0),
    "greatest_last": lambda values: _with(values, -2, 50.0),
    "zero_last": lambda values: _with(values.abs() + 1, -3, 0.0),
    "subnormal_last": lambda values: _with(values.abs() + 1, -1, -1e-39),
    "nan_last": lambda values: _with(values, -1, math.nan),
    "inf_last": lambda values: _with(values, -2, math.inf),
    "a_few": lambda values: torch.cat([values.reshape(-1)[: compiled.BLOCK], values.reshape(-1)[7:10]]),
}


@pytest.mark.parametrize("seen", MADE)
def test_the_compiled_pass_agrees_with_torchs_operators(seen, monkeypatch):
    pytest.importorskip("numba")
    values = torch.randn(70_005, generator=torch.Generator("cpu").manual_seed(0), device="cpu")
    values[::7] = 0.0
    values[::70] = -0.0
    values = MADE[seen](values)
    with monkeypatch.context() as without:
        without.setattr(compiled, "_is_there", lambda: False)
        slow, _ = measure(values)
    used = []
    real = compiled._compiled()
    monkeypatch.setattr(compiled, "LATER_USE", 1)
    monkeypatch.setattr(compiled, "_compiled", cache(lambda: lambda *given: (used.append(1), real(*given))))
    fast, _ = measure(values)
    assert bool(used) == (seen != "view")
    for name in slow.__slots__:
        was, seen_now = getattr(slow, name), getattr(fast, name)
        if isinstance(was, float):
            assert seen_now == pytest.approx(was, rel=1e-9, abs=1e-11 * slow.abs_max), name
        else:
            assert seen_now == was, name


def test_what_is_compiled_serves_smaller_tensors_from_then_on(monkeypatch):
    pytest.importorskip("numba")
    values = torch.ones(compiled.NEXT_USE, device="cpu")
    monkeypatch.setattr(compiled, "_compiled", cache(lambda: "the pass"))
    assert compiled.scan_for(values) is None
    compiled._compiled()
    assert compiled.scan_for(values) == "the pass"
    assert compiled.scan_for(values[1:]) is None


def test_without_numba_torchs_operators_do_it(monkeypatch):
    monkeypatch.setattr(compiled, "_is_there", lambda: False)
    monkeypatch.setattr(compiled, "LATER_USE", 1)
    monkeypatch.setattr(compiled, "FIRST_USE", 1)
    assert compiled.scan_for(torch.ones(10, device="cpu")) is None
    assert measure(torch.ones(10, device="cpu"))[0].mean == 1.0


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.bool, torch.complex64]
)
def test_the_pass_for_accelerators_says_the_same(dtype):
    values = (torch.randn(300, generator=torch.Generator("cpu").manual_seed(0), device="cpu") * 3).to(dtype)
    if dtype.is_floating_point:
        values[3], values[4], values[5], values[6] = math.nan, math.inf, -math.inf, 1e-39
    tiny = float(torch.finfo(dtype).smallest_normal) if dtype.is_floating_point else 0.0
    for seen in (values, values.reshape(20, 15).t()):
        one, other = scanned(seen), scanned_on_device(seen, tiny)
        assert (one.num_nan, one.num_posinf, one.num_neginf) == (other.num_nan, other.num_posinf, other.num_neginf)
        left, right = joined(one.parts), joined(other.parts)
        assert tuple(right) == pytest.approx(tuple(left), rel=1e-12, abs=1e-15)
        assert [sum(part[5:8]) for part in one.parts] == [sum(part[5:8]) for part in other.parts]
