"""This file is the proof that batched statistics are those that NumPy finds in float64, for every kind of tensor."""

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchmagic.tensors import moments as kernels
from torchmagic.tensors.moments import moments_of

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
COMPLEX = [torch.complex64, torch.complex128]
NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, 1e-30, 1e30, math.nan, math.inf, -math.inf])
LISTS = st.lists(NUMBERS, max_size=40)
# What the kernels, which add in float32, may be off by.
CLOSE = 1e-4


@pytest.fixture(params=["together", "by kernels", "in pieces"])
def way(request, monkeypatch):
    """Send every tensor the one way or the other."""
    if request.param != "together":
        monkeypatch.setattr(kernels, "FEW_VALUES", -1)
    if request.param == "in pieces":
        monkeypatch.setattr(kernels, "CPU_PIECE", 7)
    return request.param


def made(numbers, dtype):
    with warnings.catch_warnings(action="ignore"):
        return torch.tensor(numbers, dtype=torch.float64, device="cpu").to(dtype)


def wanted(values):
    if values.is_complex():
        pairs = values.detach().to(torch.complex128).resolve_conj().reshape(-1).numpy()
        with np.errstate(all="ignore"):
            return np.abs(pairs)
    return values.detach().to(torch.float64).reshape(-1).numpy()


def assert_agrees(found, everything):
    finite = everything[np.isfinite(everything)]
    assert found.num_values == everything.size
    assert found.num_nonfinite == everything.size - finite.size
    if not everything.size:
        assert (found.norm, math.isnan(found.mean), math.isnan(found.zero_share)) == (0.0, True, True)
        return
    assert found.zero_share == pytest.approx(np.count_nonzero(everything == 0) / everything.size)
    if found.num_nonfinite:
        assert math.isnan(found.norm) == bool(np.isnan(everything).any())
        assert not math.isfinite(found.norm)
    if not finite.size:
        assert math.isnan(found.mean)
        assert math.isnan(found.std)
        assert math.isnan(found.abs_max)
        return
    peak = np.abs(finite).max()
    # NumPy's own sums must not overflow: it gets numbers near 1.
    scale = peak or 1.0
    near = finite / scale if scale > 1e-300 else finite
    scale = scale if scale > 1e-300 else 1.0
    assert found.abs_max == pytest.approx(peak, rel=1e-6)
    assert found.mean / scale == pytest.approx(near.mean(), rel=CLOSE, abs=1e-7)
    assert found.std / scale == pytest.approx(near.std(), rel=CLOSE, abs=1e-7)
    if not found.num_nonfinite and np.linalg.norm(near) * min(scale, 1e307) < 1e307:
        assert found.norm / scale == pytest.approx(np.linalg.norm(near), rel=CLOSE)


@pytest.mark.parametrize("dtype", FLOATS)
@given(numbers=st.lists(LISTS, min_size=1, max_size=4))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_statistic_is_that_of_numpy(way, dtype, numbers):
    tensors = [made(each, dtype) for each in numbers]
    for tensor, found in zip(tensors, moments_of(tensors), strict=True):
        assert_agrees(found, wanted(tensor))


@given(numbers=st.lists(st.floats(-1e306, 1e306), max_size=20))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_largest_and_the_smallest_numbers_of_double_precision_are_right(way, numbers):
    tensor = torch.tensor(numbers, dtype=torch.float64, device="cpu")
    assert_agrees(moments_of([tensor])[0], wanted(tensor))


@pytest.mark.parametrize("dtype", COMPLEX)
@given(numbers=LISTS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_complex_numbers_count_by_their_magnitudes(way, dtype, numbers):
    tensor = made(numbers, dtype) * (0.6 - 0.8j)
    assert_agrees(moments_of([tensor])[0], wanted(tensor))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@given(seed=st.integers(0, 99), mean=st.sampled_from([0.0, 1.0, -300.0]), std=st.sampled_from([1e-6, 1.0, 100.0]))
@settings(max_examples=20)
def test_large_tensors_with_any_mean_and_spread_are_right(dtype, seed, mean, std):
    generator = torch.Generator().manual_seed(seed)
    tensor = (mean + std * torch.randn(20_000, generator=generator, device="cpu")).to(dtype)
    assert_agrees(moments_of([tensor])[0], wanted(tensor))


KINDS = (
    *("one number", "empty", "transposed", "strided", "expanded", "channels last", "a leaf", "conjugated"),
    *("COO", "CSR", "CSC", "BSR"),
)


def kinds():
    torch.manual_seed(0)
    block = torch.randn(40, 50, device="cpu")
    rows = torch.tensor([[0, 2, 2]], device="cpu")
    return {
        "one number": torch.tensor(-2.5, device="cpu"),
        "empty": torch.zeros(3, 0, device="cpu"),
        "transposed": block.t(),
        "strided": block[::3, 1::2],
        "expanded": torch.tensor([1.0, 2.0], device="cpu").expand(5, 2),
        "channels last": torch.randn(2, 3, 4, 5, device="cpu").to(memory_format=torch.channels_last),
        "a leaf": torch.nn.Parameter(block),
        "conjugated": torch.randn(9, dtype=torch.complex64, device="cpu").conj(),
        "COO": torch.sparse_coo_tensor(rows, torch.tensor([1.0, 2.0, 3.0], device="cpu"), (4,), device="cpu"),
        "CSR": torch.eye(5, device="cpu").to_sparse_csr(),
        "CSC": torch.eye(5, device="cpu").to_sparse_csc(),
        "BSR": torch.eye(4, device="cpu").to_sparse_bsr((2, 2)),
    }


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("kind", KINDS)
def test_every_layout_is_read(way, kind):
    tensor = kinds()[kind]
    if tensor.layout is torch.sparse_coo:
        expected = tensor.coalesce().values()
    else:
        expected = tensor if tensor.layout is torch.strided else tensor.values()
    assert_agrees(moments_of([tensor])[0], wanted(expected))


def test_what_has_no_readable_numbers_is_left_out_among_others():
    with torch._subclasses.fake_tensor.FakeTensorMode():
        fake = torch.ones(3)
    packed = torch.zeros(4, dtype=torch.uint8, device="cpu").view(torch.float4_e2m1fn_x2)
    lazy = torch.nn.UninitializedParameter(device="cpu")
    whole = torch.ones(3, dtype=torch.int64, device="cpu")
    hollow = torch.ones(3, device="meta")
    found = moments_of([fake, packed, lazy, whole, hollow, torch.ones(2, device="cpu")])
    assert [each.num_values for each in found] == [0, 0, 0, 0, 0, 2]
    assert all(math.isnan(each.norm) for each in found[:-1])


def test_a_shard_is_measured_by_its_local_part():
    class Shard(torch.Tensor):
        def to_local(self):
            return self.as_subclass(torch.Tensor)[:2]

    found = moments_of([torch.ones(4, device="cpu").as_subclass(Shard)])[0]
    assert (found.num_values, found.norm) == (2, pytest.approx(math.sqrt(2)))


def test_a_deviation_that_cancels_in_single_precision_is_still_found(way):
    tensor = 1 + 1e-4 * torch.randn(50_000, device="cpu", generator=torch.Generator().manual_seed(1))
    assert moments_of([tensor])[0].std == pytest.approx(wanted(tensor).std(), rel=1e-6)


def test_a_share_of_no_zeros_has_no_sign(way):
    (found,) = moments_of([torch.tensor([-1.0, -2.0], device="cpu")])
    assert math.copysign(1.0, found.zero_share) == 1.0


def test_a_deviation_that_cancels_in_double_precision_is_still_found():
    values = torch.randn(1000, dtype=torch.float64) * 1e-3 + 1e6
    (found,) = moments_of([values])
    assert found.std == pytest.approx(values.numpy().std(), rel=1e-9)
    assert found.mean == pytest.approx(1e6)


def test_squares_beyond_the_range_of_single_precision_do_not_overflow(way):
    big, small = moments_of([torch.full((10_000,), 1e30, device="cpu"), torch.full((10_000,), 1e-30, device="cpu")])
    assert (big.norm, big.abs_max, big.num_nonfinite) == (pytest.approx(1e32), pytest.approx(1e30), 0)
    assert (small.norm, small.zero_share) == (pytest.approx(1e-28), 0.0)


def test_statistics_beside_a_broken_value_are_those_of_the_rest(way):
    tensor = torch.tensor([3.0, math.nan, -1.0, math.inf, 0.0, 0.0], device="cpu")
    found = moments_of([tensor])[0]
    assert (found.num_nonfinite, found.mean, found.abs_max, found.zero_share) == (2, 0.5, 3.0, 2 / 6)
    assert found.std == pytest.approx(1.5)
    assert math.isnan(found.norm)


def test_nothing_is_changed(way):
    tensor = torch.tensor([3.0, math.nan, -1.0, 1e30], dtype=torch.float64, device="cpu")
    before, state = tensor.clone(), torch.get_rng_state()
    moments_of([tensor])
    assert tensor._version == 0
    assert torch.equal(tensor.view(torch.int64), before.view(torch.int64))
    assert torch.equal(torch.get_rng_state(), state)
