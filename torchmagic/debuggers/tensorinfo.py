"""This file is ``tensorinfo``: everything about one tensor, for scripts, tests and notebooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchmagic.records.tensor import TensorRecord
from torchmagic.records.tensor_tree import TensorTree
from torchmagic.tensors.describe import Asked, describe
from torchmagic.tensors.tree import describe_tree
from torchmagic.views.page import Page
from torchmagic.views.self_shown import SelfShown
from torchmagic.views.tensor import tensor_page
from torchmagic.views.tensor_tree import tensor_tree_page


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TensorInfo(SelfShown):
    """What is known about one tensor, or about those in one object; it holds numbers and text, not the tensor.

    Args:
        record: The plain facts, for programs.
        page: The same for readers; ``print`` shows it as text, a notebook as HTML.
    """

    record: TensorRecord | TensorTree
    page: Page

    def __str__(self) -> str:
        # The skins are loaded only when something is shown.
        from torchmagic.views.skins.text import as_text  # noqa: PLC0415

        return as_text(self.page)

    def _repr_html_(self) -> str:
        from torchmagic.views.skins.html import as_html  # noqa: PLC0415
        from torchmagic.views.skins.matplotlib import as_png  # noqa: PLC0415

        return as_html(self.page, draw=as_png)


def tensorinfo(
    value: Any,
    *,
    name: str = "",
    compare: Any = None,
    compare_name: str = "the other one",
    hist: bool = False,
    image: bool | None = None,
    full: bool = False,
    dims: Sequence[str] = (),
    names: Mapping[str, Any] | None = None,
) -> TensorInfo:
    """Look closely at a tensor: shape, memory, statistics, NaN and Inf counts, histogram, values, gradient.

    Of an object that holds tensors (a list, a batch, a state dict, an optimizer) their tree and totals are told.
    Neither the tensor nor its gradient nor any random number stream is changed, and the tensor is not held.

    Args:
        value: A tensor of any kind, a parameter, a NumPy array or number; a list, tuple, mapping or dataclass of these,
            an optimizer or a gradient scaler.
        name: What to call it.
        compare: Another tensor of the same shape to compare it with.
        compare_name: What to call that one.
        hist: Whether the histogram counts all values, however many there are.
        image: Whether the tensor is shown as images; None lets its shape decide.
        full: Whether quantiles and histogram are of all values, however many there are, and the garbage collector is
            asked who holds the tensor.
        dims: Names of the dimensions, such as ``("N", "H", "W", "C")``.
        names: Variables to look for others in that share its memory, or for the models that an optimizer trains, such
            as ``globals()``.

    Raises:
        TypeError: If it is something else; one line says what came, what was wanted and what to do.
        ValueError: If ``compare`` has another shape, or ``dims`` are not as many as its dimensions.

    Example:
        >>> import torch
        >>> info = tensorinfo(torch.tensor([1.0, float("nan")]), name="x")
        >>> info.record.statistics.num_nan
        1
    """
    if names is not None and not isinstance(names, Mapping):
        raise TypeError(f"names are variables by name, such as globals(); {type(names).__name__} came")
    tree = describe_tree(value, name=name, names=names)
    if tree is not None:
        if compare is not None or dims:
            raise TypeError(
                f"--compare and --dims want one tensor, {type(value).__name__} came; name one of its tensors"
            )
        return TensorInfo(record=tree, page=tensor_tree_page(tree))
    if isinstance(dims, str):
        raise TypeError(f"dims are names one by one, such as {tuple(dims.split()) or ('N', 'C')}, {dims!r} came")
    asked = Asked(
        other=compare, other_name=compare_name, hist=hist, image=image, full=full, dims=tuple(dims), names=names
    )
    record = describe(value, name=name, asked=asked)
    return TensorInfo(record=record, page=tensor_page(record))
