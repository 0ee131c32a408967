"""This file is the page of many tensors in one object: totals, then a row a tensor."""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted
from torchmagic.records.tensor_tree import Leaf, TensorTree
from torchmagic.views.numbers import as_bytes
from torchmagic.views.page import Block, Facts, Page, Table, Text
from torchmagic.views.tensor_facts import as_sizes

_COLUMNS = ("where", "shape", "dtype", "bytes", "min", "max", "mean", "not finite")


def tensor_tree_page(tree: TensorTree) -> Page:
    """Tell the tensors in an object: totals, warnings, facts beside them, and a row each.

    Args:
        tree: What was found in the object.

    Returns:
        A page whose strong texts are exactly the warnings, and whose marked rows are what they are about.
    """
    title = f"{tree.name}: {tree.kind}" if tree.name else tree.kind
    return Page(title=title, blocks=tuple(_blocks(tree)))


def _blocks(tree: TensorTree) -> Iterator[Block]:
    yield Text(text=_headline(tree))
    bad = [i for i, leaf in enumerate(tree.leaves) if leaf.num_nonfinite]
    if bad:
        values, first = counted(tree.num_nonfinite, "value"), tree.leaves[bad[0]].path
        yield Text(text=f"Not finite: {values} in {counted(len(bad), 'tensor')}, first {first}.", strong=True)
    if tree.facts:
        yield Facts(rows=tree.facts)
    if tree.leaves:
        devices = {leaf.device for leaf in tree.leaves}
        columns = (*_COLUMNS, "device") if len(devices) > 1 else _COLUMNS
        rows = [_row(leaf, with_device=len(devices) > 1) for leaf in tree.leaves]
        yield Table(columns=columns, rows=rows, marked=frozenset(bad))
    for note in tree.notes:
        yield Text(text=f"Note: {note}.")


def _headline(tree: TensorTree) -> str:
    if not tree.num_tensors:
        return "no tensor in it yet"
    kinds = ", ".join(f"{dtype} {as_bytes(size)}" for dtype, size in tree.bytes_by_dtype)
    told = f"{counted(tree.num_tensors, 'tensor')}, {counted(tree.num_elements, 'element')}, {kinds}"
    if tree.storage_bytes == tree.num_bytes:
        return told
    return f"{told}, in blocks of {as_bytes(tree.storage_bytes)} altogether"


def _row(leaf: Leaf, *, with_device: bool) -> tuple[str | int | float | None, ...]:
    bad = leaf.num_nonfinite if leaf.is_measured else None
    row = leaf.path, as_sizes(leaf.shape), leaf.dtype, as_bytes(leaf.num_bytes), leaf.min, leaf.max, leaf.mean, bad
    return (*row, leaf.device) if with_device else row
