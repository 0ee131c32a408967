"""This file is the record of one tensor: what it is, what its values are like, and what its gradient is like."""

from dataclasses import dataclass

from torchmagic.records.tensor_picture import Picture
from torchmagic.records.tensor_relations import Comparison, GraphNode, Headroom, Relations


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Numbers about a tensor's values; NaN and infinities are counted and left out of everything else.

    Args:
        num_values: Values looked at, finite or not.
        num_nan: Values that are NaN.
        num_posinf: Values that are plus infinity.
        num_neginf: Values that are minus infinity.
        num_zero: Values equal to zero (minus zero too).
        num_negative: Finite values below zero.
        num_subnormal: Values nearer to zero than the least normal number of their dtype, zero left out.
        num_distinct: Different values; known only for whole numbers, unless they are too many and too wide apart.
        min: Smallest finite value; None, like the numbers below, where there is no finite value.
        max: Largest finite value.
        mean: Mean of the finite values.
        std: Standard deviation with divisor n - 1; None below two finite values.
        abs_max: Largest magnitude.
        l2: Square root of the sum of squares.
        quantiles: (share, value) with shares rising from 0 to 1, between neighbours linear; empty without values.
        num_sampled: Values that the quantiles were taken from; 0 where they come from all.
        nonfinite_at: Indices of the first non-finite values, in the order of the tensor's elements.
    """

    num_values: int
    num_nan: int = 0
    num_posinf: int = 0
    num_neginf: int = 0
    num_zero: int = 0
    num_negative: int = 0
    num_subnormal: int = 0
    num_distinct: int | None = None
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    abs_max: float | None = None
    l2: float | None = None
    quantiles: tuple[tuple[float, float], ...] = ()
    num_sampled: int = 0
    nonfinite_at: tuple[tuple[int, ...], ...] = ()

    @property
    def num_nonfinite(self) -> int:
        """Values that are NaN or infinite."""
        return self.num_nan + self.num_posinf + self.num_neginf

    @property
    def num_finite(self) -> int:
        """Values that are neither NaN nor infinite."""
        return self.num_values - self.num_nonfinite

    @property
    def median(self) -> float | None:
        """The middle of the finite values."""
        return dict(self.quantiles).get(0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts of finite values between consecutive edges.

    Args:
        edges: Rising, one more than counts.
        counts: How many values lie between two edges.
        num_sampled: 0 where all values were counted, else how many were.
        by_ratio: Whether the edges rise by a factor, because most values lie close to the least one.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    num_sampled: int = 0
    by_ratio: bool = False


class EvenEdges(tuple[float, ...]):
    """Edges that ``even_edges`` made: their ends and their number tell all of them."""

    __slots__ = ()


def even_edges(low: float, high: float, num_bins: int) -> EvenEdges:
    """Return edges at even distances, one more than bins: the same bits for the same ends."""
    width = high - low
    return EvenEdges((*[low + width * i / num_bins for i in range(num_bins)], high))


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientSummary:
    """A tensor's ``.grad``: ``norm`` (L2) and ``abs_max`` are of its finite values, None where it has none."""

    dtype: str
    shape: tuple[int, ...]
    norm: float | None
    abs_max: float | None
    num_nonfinite: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRecord:
    """Plain facts about one tensor at one moment.

    Args:
        name: What the user calls it; may be empty.
        kind: Its class, such as ``Tensor``, ``Parameter`` or ``ndarray``.
        shape: Sizes; -1 for a dimension that has no single size (nested tensors).
        dtype: As torch names it, without ``torch.``.
        dims: Names of the dimensions; empty where nobody named them.
        device: As torch names it.
        layout: ``strided``, ``sparse_coo``, ``sparse_csr``, ``jagged`` …
        strides: In elements; empty where the layout has none.
        contiguous: Whether its elements lie in memory in their own order, without gaps.
        memory_format: ``contiguous``, ``channels_last``, ``channels_last_3d``, ``non-contiguous``; empty where the
            layout has none.
        requires_grad: Whether autograd follows it.
        is_leaf: Whether no operation that autograd recorded made it.
        grad_fn: Name of the operation that made it; empty for a leaf.
        graph: That operation and those before it, a few hops back.
        version: How often it was changed in place; None for inference tensors, which do not count.
        num_elements: Elements of the shape.
        num_bytes: Bytes of its elements (sparse: of stored values and indices).
        storage_bytes: Bytes of the memory block that it lies in and keeps alive; None where it cannot be asked.
        storage_offset: Elements before its first one in that block.
        is_view: Whether it looks into another tensor's memory.
        is_pinned: Whether it lies in page-locked memory.
        statistics: Of its values; None where they cannot be read.
        histogram: Of its finite values; None without two different ones.
        values: Its values, or the corners of them, as torch prints them.
        headroom: Where it has floating-point values.
        picture: Of its values; None where there is nothing to draw.
        relations: To other things in the user's namespace; None where that was not looked at.
        comparison: With another tensor; None where none was given.
        gradient: Of its ``.grad``; None where it has none.
        notes: What a reader has to know about the numbers, one sentence each.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    dims: tuple[str, ...] = ()
    device: str
    layout: str
    strides: tuple[int, ...] = ()
    contiguous: bool = False
    memory_format: str = ""
    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str = ""
    graph: tuple[GraphNode, ...] = ()
    version: int | None = None
    num_elements: int = 0
    num_bytes: int = 0
    storage_bytes: int | None = None
    storage_offset: int = 0
    is_view: bool = False
    is_pinned: bool = False
    statistics: Statistics | None = None
    histogram: Histogram | None = None
    values: str = ""
    headroom: tuple[Headroom, ...] = ()
    picture: Picture | None = None
    relations: Relations | None = None
    comparison: Comparison | None = None
    gradient: GradientSummary | None = None
    notes: tuple[str, ...] = ()
