"""This file is a tensor's values as text: what torch prints, without the wrapping."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from torchmagic.tensors.near import corners

# torch formats 1,000 values in 7 ms and 200 in 1.5; nobody reads more of them.
EDGE_ITEMS, DEEP_EDGE_ITEMS, THRESHOLD = 3, 2, 200
MAX_LINES = 24
FLAT = 2


def preview(values: torch.Tensor) -> str:
    """The values, or the corners of many, in the user's print options.

    Args:
        values: A dense tensor without gradient.

    Returns:
        At most ``MAX_LINES`` lines, and a last line that says so if there were more.

    Raises:
        RuntimeError: If torch cannot read the values.
    """
    with _bounded(values) as edge:
        text = str(values if values.is_cpu else corners(values, edge))
    start = text.find("(") + 1
    inner = _bare(text[start:]).replace("\n" + " " * start, "\n")
    lines = inner.splitlines()
    if len(lines) <= MAX_LINES:
        return inner
    return "\n".join([*lines[:MAX_LINES], f"… {len(lines) - MAX_LINES} more lines"])


def _bare(text: str) -> str:
    """Cut what follows the values: dtype and device are told elsewhere, and depend on torch's defaults."""
    if text.startswith("["):
        return text[: text.rindex("]") + 1]
    return text.removesuffix(")").split(",", maxsplit=1)[0]


@contextmanager
def _bounded(values: torch.Tensor) -> Iterator[int]:
    """Print options that show corners, where the user's own might show every one of many values; how wide they are."""
    edge = EDGE_ITEMS if values.dim() <= FLAT else DEEP_EDGE_ITEMS
    if values.numel() <= THRESHOLD:
        yield values.numel()
        return
    threshold = THRESHOLD if values.is_cpu else 0  # what is brought near are few, and still corners
    with torch._tensor_str.printoptions(threshold=threshold, edgeitems=edge):  # noqa: SLF001 - restores itself
        yield edge
