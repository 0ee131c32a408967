"""This file is the proof that the statistics of a tensor are those that NumPy finds in float64."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.tensors import chunks, cores, places, sample, spread
from torchmagic.tensors.measure import measure as measured
from torchmagic.tensors.sample import SHARES

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
WHOLES = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.bool]
NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf])
# Up to here the norm of 40 numbers stays a finite float64.
HUGE = st.floats(-1e307, 1e307) | st.sampled_from([math.nan, math.inf, -math.inf])
LISTS = st.lists(NUMBERS, max_size=60)


@pytest.fixture
def small_pieces(monkeypatch):
    """Make every walk take many pieces, so that their joints are tested."""
    monkeypatch.setattr(chunks, "CPU_CHUNK", 7)
    monkeypatch.setattr(cores, "CPU_PIECE", 7)
    monkeypatch.setattr(cores, "LONG_PIECE", 7)
    monkeypatch.setattr(places, "LONG_PIECE", 7)
    monkeypatch.setattr(cores, "LEAST_SHARED", 20)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)


def as_float64(values):
    return values.to(torch.float64).reshape(-1).numpy()


def assert_agrees(values):
    statistics, histogram = measured(values)
    all_values = as_float64(values)
    finite = all_values[np.isfinite(all_values)]
    assert statistics.num_values == all_values.size
    assert statistics.num_nan == np.isnan(all_values).sum()
    assert statistics.num_posinf == (all_values == np.inf).sum()
    assert statistics.num_neginf == (all_values == -np.inf).sum()
    assert statistics.num_zero == (finite == 0).sum()
    assert statistics.num_negative == (finite < 0).sum()
    if values.is_floating_point():
        tiny = torch.finfo(values.dtype).smallest_normal
        assert statistics.num_subnormal == ((np.abs(finite) < tiny) & (finite != 0)).sum()
    elif finite.size:
        assert statistics.num_distinct == len(np.unique(finite))
    if not finite.size:
        assert (statistics.min, statistics.mean, statistics.std, statistics.quantiles, histogram) == (
            *(None,) * 3,
            (),
            None,
        )
        return
    assert (statistics.min, statistics.max) == (finite.min(), finite.max())
    assert statistics.abs_max == np.abs(finite).max()
    # The mean may cancel; its error is then small against the values.
    assert statistics.mean == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12 * statistics.abs_max)
    assert statistics.l2 == pytest.approx(np.linalg.norm(finite), rel=1e-9)
    if finite.size > 1:
        assert statistics.std == pytest.approx(finite.std(ddof=1), rel=1e-9, abs=1e-12 * statistics.abs_max)
    else:
        assert statistics.std is None
    if not statistics.num_sampled:
        expected = np.quantile(finite, SHARES)
        found = [value for _, value in statistics.quantiles]
        assert found == pytest.approx(expected.tolist(), rel=1e-9, abs=1e-12 * statistics.abs_max)
    if histogram is None:
        assert statistics.min == statistics.max
    elif not histogram.num_sampled:
        assert sum(histogram.counts) == finite.size
        assert len(histogram.edges) == len(histogram.counts) + 1
        assert all(low < high for low, high in zip(histogram.edges, histogram.edges[1:], strict=False))


@pytest.mark.parametrize("dtype", FLOATS)
@given(numbers=LISTS)
def test_statistics_of_floats_are_those_of_numpy(dtype, numbers):
    assert_agrees(torch.tensor(numbers, dtype=torch.float32, device="cpu").to(dtype))


@given(numbers=st.lists(HUGE, max_size=40))
def test_statistics_of_float64_hold_for_the_largest_and_smallest_numbers(numbers):
    values = torch.tensor(numbers, dtype=torch.float64, device="cpu")
    statistics, _ = measured(values)
    finite = [number for number in numbers if math.isfinite(number)]
    if not finite:
        assert statistics.max is None
        return
    assert (statistics.min, statistics.max) == (min(finite), max(finite))
    assert math.isclose(statistics.l2, math.hypot(*finite), rel_tol=1e-9, abs_tol=5e-324)
    assert statistics.min <= statistics.mean <= statistics.max
    assert statistics.std is None or not math.isnan(statistics.std)


def test_the_widest_range_has_finite_edges():
    largest = torch.finfo(torch.float64).max
    values = torch.tensor([-largest, 0.0, largest], dtype=torch.float64, device="cpu")
    statistics, histogram = measured(values)
    assert histogram.counts == (1, 0, 1, 1)
    assert (histogram.edges[0], histogram.edges[2], histogram.edges[-1]) == (-largest, 0.0, largest)
    assert (statistics.mean, statistics.median) == (0.0, 0.0)


@pytest.mark.parametrize("dtype", WHOLES)
@given(numbers=st.lists(st.integers(0, 200), max_size=60))
def test_statistics_of_whole_numbers_are_those_of_numpy(dtype, numbers):
    assert_agrees(torch.tensor(numbers, dtype=torch.int64, device="cpu").to(dtype))


@given(numbers=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9))
def test_extremes_of_int64_are_exact(numbers):
    statistics, _ = measured(torch.tensor(numbers, dtype=torch.int64, device="cpu"))
    assert (statistics.min, statistics.max) == (min(numbers), max(numbers))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.t(),
        lambda x: x[:, ::2],
        lambda x: x[1:, 3:5],
        lambda x: x.reshape(3, 4, 5).permute(2, 0, 1),
        lambda x: x[2],
        lambda x: x[0, 0],
        lambda x: x[:0],
        lambda x: x.reshape(1, 1, 60),
        lambda x: x.unfold(0, 3, 1),
        lambda x: torch.complex(x, x).conj().imag,
    ],
)
def test_strides_do_not_matter_and_pieces_join(change):
    rows = torch.randn(6, 10, generator=torch.Generator(device="cpu").manual_seed(3), device="cpu") * 3 + 100
    rows[1, 4], rows[5, 9], rows[0, 0] = math.nan, math.inf, 0.0
    values = change(rows)
    assert_agrees(values)
    indices = torch.nonzero(~torch.isfinite(values.contiguous()))[: places.MAX_POSITIONS].tolist()
    assert [list(index) for index in measured(values)[0].nonfinite_at] == indices


def test_the_place_of_a_value_in_a_long_piece_is_found():
    values = torch.ones(cores.LONG_PIECE + 9, device="cpu")
    values[cores.LONG_PIECE - 5], values[-1] = math.nan, math.inf
    assert measured(values)[0].nonfinite_at == ((cores.LONG_PIECE - 5,), (cores.LONG_PIECE + 8,))


@pytest.mark.usefixtures("small_pieces")
def test_pieces_of_a_strided_tensor_are_never_larger_than_asked():
    values = torch.zeros(9, 11, 5, device="cpu").permute(1, 2, 0)
    sizes = [piece.numel() for piece in chunks.numbers(values)]
    assert sum(sizes) == 495
    assert max(sizes) <= 7


def test_mean_and_deviation_survive_a_large_offset():
    values = torch.arange(200_000, dtype=torch.float64, device="cpu") % 7 + 1e12
    assert_agrees(values)


def test_float32_sums_are_taken_in_float64():
    values = torch.full((300_000,), 0.1, device="cpu")
    values[0] = 0.2
    assert_agrees(values)


def test_complex_numbers_are_measured_by_magnitude():
    values = torch.tensor([3 + 4j, 0, complex(math.nan, 1), complex(1, -math.inf)], dtype=torch.complex64, device="cpu")
    statistics, _ = measured(values)
    assert (statistics.min, statistics.max, statistics.num_zero) == (0.0, 5.0, 1)
    assert (statistics.num_nan, statistics.num_posinf) == (1, 1)


def test_a_small_range_of_whole_numbers_has_one_bin_a_number():
    statistics, histogram = measured(torch.tensor([2, 2, 5, 3], device="cpu"))
    assert histogram.edges == (1.5, 2.5, 3.5, 4.5, 5.5)
    assert histogram.counts == (2, 1, 0, 1)
    assert statistics.num_distinct == 3


def test_repeated_values_count_as_often_as_they_are_shown():
    shown = torch.tensor([[1.0], [math.nan], [4.0]], device="cpu").expand(3, 50)
    by_store, bars = measured(shown[:, :1], repeat=50)
    by_all, _ = measured(shown)
    assert by_store.num_nan == by_all.num_nan == 50
    assert by_store.std == pytest.approx(by_all.std)
    assert by_store.l2 == pytest.approx(by_all.l2)
    assert sum(bars.counts) == 100


def test_histogram_counts_are_those_of_numpy():
    values = torch.randn(5000, generator=torch.Generator(device="cpu").manual_seed(1), device="cpu")
    _, histogram = measured(values)
    expected, edges = np.histogram(as_float64(values), 64)
    assert histogram.edges == pytest.approx(edges.tolist())
    assert list(histogram.counts) == expected.tolist()


def test_a_sample_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr(spread, "EXACT_HISTOGRAM", 1000)
    values = torch.randn(500, 400, generator=torch.Generator(device="cpu").manual_seed(1), device="cpu")
    for seen in (values, values.t()):
        statistics, histogram = measured(seen)
        assert statistics.num_sampled == sample.SAMPLE_SIZE == histogram.num_sampled == sum(histogram.counts)


def test_shares_below_sampled_quantiles_are_as_close_as_is_said():
    off = []
    for seed in range(20):
        values = torch.randn(100_000, generator=torch.Generator(device="cpu").manual_seed(seed), device="cpu")
        statistics, _ = measured(values)
        off += [abs(np.mean(as_float64(values) < value) - share) for share, value in statistics.quantiles]
    assert np.quantile(off, 0.95) < 0.008
    assert max(off) < 0.016


@pytest.mark.parametrize("size", [3, 300_000])
@pytest.mark.parametrize("base", [2**62, -(2**62), 2**53])
def test_whole_numbers_that_a_float64_cannot_tell_apart_have_their_own_deviation(base, size):
    offsets = torch.arange(size, device="cpu") % 5
    statistics, histogram = measured(base + offsets)
    assert (statistics.min, statistics.max) == (base, base + int(offsets.max()))
    assert statistics.std == pytest.approx(offsets.double().std().item(), rel=1e-9)
    assert statistics.mean == pytest.approx(base + 2, rel=1e-15)
    assert statistics.num_distinct == int(offsets.max()) + 1
    assert histogram is None


def test_whole_numbers_from_one_end_to_the_other_are_measured():
    values = torch.tensor([-(2**63), 2**63 - 1, 0, 2**53 + 1], device="cpu")
    statistics, histogram = measured(values)
    assert (statistics.min, statistics.max) == (-(2**63), 2**63 - 1)
    assert statistics.std == pytest.approx(np.std(values.double().numpy(), ddof=1), rel=1e-12)
    assert statistics.mean == pytest.approx(values.double().mean().item(), rel=1e-12)
    assert sum(histogram.counts) == 4
