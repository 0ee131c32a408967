"""This file is the weighted sums of a graph: over which dimension softmax's weights are summed, and normalised."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from torchmagic.probes.loss_values import axis_of
from torchmagic.probes.producers import parents, through_views

# A softmax and the sum that it weighs have few nodes between them: reshapes, dropout.
MOST_BETWEEN = 10
# Nodes that keep the last dimensions as they are, as far as the sizes say so.
KEEPING = (
    "View",
    "UnsafeView",
    "Reshape",
    "Expand",
    "Clone",
    "ToCopy",
    "Alias",
    "Squeeze",
    "Unsqueeze",
    "NativeDropout",
)
# What scores go through before they become weights.
SCALING = (
    "Div", "Mul", "Add", "Sub", "MaskedFill", "Where", "View", "UnsafeView", "Reshape", "ToCopy", "Clone",
    "Permute", "Squeeze", "Unsqueeze",
)  # fmt: skip
LEAF = "torch::autograd::AccumulateGrad"
SWAPPING = ("Transpose", "Permute", "TBackward")
WRAPPED = 1 << 63


class Mismatch(NamedTuple):
    """A softmax whose weights are summed over another dimension than they were normalised over."""

    node: Any
    reason: str
    dim: int
    wanted: int
    shape: tuple[int, ...]


def mismatches(nodes: Sequence[Any]) -> Iterator[Mismatch]:
    """Yield the softmaxes that feed a product of matrices, or a product and a sum, over another dimension.

    A softmax over clusters, experts or capsules whose weights then gather the rows is meant so. What is told is a
    softmax of scores that are themselves products of queries and keys, and one over a dimension of a single value.
    """
    told: set[Any] = set()
    for node in nodes:
        for child, dim in _summed(node):
            softmax, wanted = _trace(child, dim)
            if softmax is None:
                softmax, wanted = _by_einsum(node, child, dim)
            if softmax is None or softmax in told:
                continue
            shape = _shape(softmax)
            axis = axis_of(softmax, len(shape))
            wanted += len(shape)
            if axis == wanted or not 0 <= wanted < len(shape) or shape[wanted] == 1:
                continue
            if shape[axis] == 1:
                told.add(softmax)
                yield Mismatch(softmax, "single", axis, wanted, shape)
            elif _weighs_keys(node, softmax, wanted, nodes):
                told.add(softmax)
                yield Mismatch(softmax, "weights", axis, wanted, shape)


def _summed(node: Any) -> Iterator[tuple[Any, int]]:
    """Yield the nodes that a node sums up, each with the dimension summed over, counted from the last, -1."""
    name = node.name()
    if name.startswith(("Bmm", "Mm")) and len(node.next_functions) > 1:
        yield node.next_functions[0][0], -1
        yield node.next_functions[1][0], -2
    elif name == "SumBackward1" and len(node._saved_dim) == 1:
        product = node.next_functions[0][0]
        if product is not None and product.name().startswith("MulBackward"):
            dims = len(_shape(product))
            dim = _signed(node._saved_dim[0])
            for child in parents(product):
                yield child, dim if dim < 0 else dim - dims


def _by_einsum(product: Any, node: Any, dim: int) -> tuple[Any, int]:
    """Return what ``_trace`` does of the product that an einsum makes, where the other side was normalised over.

    An einsum has dimensions come and go by the way. Capsules and experts are normalised over a dimension that the
    product has for its batch.
    """
    softmax, wanted = _trace(node, dim, loosely=True) if product.name().startswith("Bmm") else (None, 0)
    if softmax is None:
        return None, 0
    _, other = _trace(node, -3 - dim, loosely=True)
    dims = len(_shape(softmax))
    return (softmax, wanted) if axis_of(softmax, dims) == other + dims else (None, 0)


def _trace(node: Any, dim: int, *, loosely: bool = False) -> tuple[Any, int]:
    """Return the softmax that made a tensor, and where a dimension of the tensor is in its output; else None.

    Args:
        node: What made the tensor.
        dim: Its dimension, counted from the last, -1.
        loosely: Whether dimensions of size 1 may come and go.
    """
    for _ in range(MOST_BETWEEN):
        if node is None:
            return None, 0
        name = node.name()
        if name.startswith(("Softmax", "LogSoftmax")):
            return node, dim
        above = parents(node)
        if len(above) != 1:
            return None, 0
        shape = _shape(node)
        if name.startswith("Transpose"):
            first, second = (_signed(each, len(shape)) for each in (node._saved_dim0, node._saved_dim1))
            dim = {first: second, second: first}.get(dim, dim)
        elif name.startswith("Permute"):
            dim = _signed(node._saved_dims[len(shape) + dim], len(shape))
        elif name.startswith("TBackward"):
            dim = -3 - dim
        elif name.startswith(KEEPING) or (name.startswith("Mul") and _shape(above[0]) == shape):
            dim = _kept(shape, _shape(above[0]), dim, loosely=loosely)
            if not dim:
                return None, 0
        else:
            return None, 0
        node = above[0]
    return None, 0


def _kept(shape: tuple[int, ...], before: tuple[int, ...], dim: int, *, loosely: bool) -> int:
    """Return where a dimension was before a change that keeps all from it on, or all but ones; 0 where it does not."""
    if not loosely:
        return dim if shape[dim:] == before[dim:] else 0
    mine = [place for place in range(-1, -len(shape) - 1, -1) if shape[place] != 1]
    theirs = [place for place in range(-1, -len(before) - 1, -1) if before[place] != 1]
    for at, was in zip(mine, theirs, strict=False):
        if shape[at] != before[was]:
            return 0
        if at == dim:
            return was
    return 0


def _weighs_keys(product: Any, softmax: Any, wanted: int, nodes: Sequence[Any]) -> bool:
    """Whether a product of matrices sums up what a softmax weighs as attention does.

    Without a batch, weights that are turned round, or that are used for their own sum as well, gather rows by clusters.
    """
    if product.name().startswith("Bmm"):
        return _compares_keys(softmax, product="Bmm")
    if not product.name().startswith("Mm") or wanted != 1:
        return False
    return _compares_keys(softmax, product="Mm") and sum(softmax in parents(node) for node in nodes) == 1


def _compares_keys(softmax: Any, *, product: str) -> bool:
    """Whether the scores are products of queries with keys turned round, and not of a layer with its weights."""
    node = softmax.next_functions[0][0]
    for _ in range(MOST_BETWEEN):
        if node is None or not node.name().startswith(SCALING):
            break
        above = parents(node)
        node = above[0] if above else None
    if node is None or not node.name().startswith(product) or len(parents(node)) != 2:  # noqa: PLR2004 - both learn
        return False
    queries, keys = parents(node)
    if queries.name() == LEAF:  # clusters that are learned: each row may be shared out among them
        return False
    for _ in range(3):
        if keys is None or keys.name().startswith(SWAPPING):
            break
        keys = through_views(parents(keys)[0], stop=SWAPPING) if parents(keys) else None
    return keys is not None and keys.name().startswith(SWAPPING) and keys.next_functions[0][0].name() != LEAF


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(node._input_metadata[0].shape)


def _signed(dim: int, dims: int | None = None) -> int:
    """Return a dimension as it was given, or counted from the last, -1, where it is known of how many."""
    value = int(dim) - 2 * WRAPPED if int(dim) >= WRAPPED else int(dim)
    return value - dims if dims is not None and value >= 0 else value
