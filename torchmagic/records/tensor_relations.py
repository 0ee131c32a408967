"""This file is the records of what a tensor has to do with others: graph, memory, and comparison."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """One operation that autograd recorded.

    Args:
        name: Of the node, such as ``AddmmBackward0``.
        hops: How far it is from the tensor; 0 made it.
        module: Path of the module whose parameters it took; empty where none is known by name.
        inputs: Names (or shapes) of the leaves that it took.
    """

    name: str
    hops: int
    module: str = ""
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """How much of a dtype's range is used.

    Args:
        dtype: The tensor's own, or one that it may be cast to.
        is_own: Which of the two.
        greatest: Its greatest finite number.
        share: The tensor's largest magnitude as a share of that; above 1 it would become infinite.
    """

    dtype: str
    is_own: bool
    greatest: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What in the user's namespace has to do with a tensor.

    Args:
        names: Names under which this very tensor can be reached, such as ``x`` or ``model.fc.weight``.
        shared: Names of others that lie in the same memory.
        base: Name of the tensor that it is a view of, or its kind and shape; empty for none.
        holders: Other things that refer to it, looked for only on request.
    """

    names: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    base: str = ""
    holders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two tensors of one shape, element by element; the numbers are of places where both are finite.

    Args:
        other: What the other one is called.
        other_dtype: Its dtype.
        num_values: Elements.
        num_different: Elements that differ; NaN is equal to NaN here.
        num_one_sided: Elements that are not finite in one of them, or differently so.
        max_abs: Largest absolute difference; None without two finite values.
        max_abs_at: Where.
        max_abs_values: The two values there.
        max_rel: Largest difference as a share of the other one's magnitude; None without one that is not zero.
        max_rel_at: Where.
        max_ulp: Most representable numbers between two values; None for unlike or other than floating dtypes.
        rtol: Relative tolerance of ``is_close``.
        atol: Absolute one.
        num_outside: Elements beyond these tolerances.
    """

    other: str
    other_dtype: str
    num_values: int
    num_different: int = 0
    num_one_sided: int = 0
    max_abs: float | None = None
    max_abs_at: tuple[int, ...] = ()
    max_abs_values: tuple[float, float] = (0.0, 0.0)
    max_rel: float | None = None
    max_rel_at: tuple[int, ...] = ()
    max_ulp: int | None = None
    rtol: float = 0.0
    atol: float = 0.0
    num_outside: int = 0

    @property
    def is_close(self) -> bool:
        """Whether all elements are within the tolerances."""
        return not self.num_outside
