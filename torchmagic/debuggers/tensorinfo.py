"""This file is ``tensorinfo``: everything about one tensor, for scripts, tests and notebooks."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from torchmagic.records.tensor import TensorRecord
from torchmagic.tensors.describe import describe
from torchmagic.views.page import Page
from torchmagic.views.tensor import tensor_page


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TensorInfo:
    """What is known about one tensor; it holds numbers and text, not the tensor.

    Args:
        record: The plain facts, for programs.
        page: The same for readers; ``print`` shows it as text, a notebook as HTML.
    """

    record: TensorRecord
    page: Page

    def __str__(self) -> str:
        # The skins are loaded only when something is shown.
        from torchmagic.views.skins.text import as_text  # noqa: PLC0415

        return as_text(self.page)

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Answer IPython's display protocol with text and HTML."""
        from torchmagic.views.skins.html import as_html  # noqa: PLC0415
        from torchmagic.views.skins.matplotlib import as_png  # noqa: PLC0415

        makers: dict[str, Callable[[], str]] = {
            "text/plain": self.__str__,
            "text/html": lambda: as_html(self.page, draw=as_png),
        }
        return {
            kind: make()
            for kind, make in makers.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }


def tensorinfo(value: Any, *, name: str = "") -> TensorInfo:
    """Look closely at a tensor: shape, memory, statistics, NaN and Inf counts, histogram, values, gradient.

    Neither the tensor nor its gradient nor any random number stream is changed, and the tensor is not held.

    Args:
        value: A tensor of any kind, a parameter, a NumPy array or a NumPy number.
        name: What to call it.

    Raises:
        TypeError: If it is something else; one line says what came, what was wanted and what to do.

    Example:
        >>> import torch
        >>> info = tensorinfo(torch.tensor([1.0, float("nan")]), name="x")
        >>> info.record.statistics.num_nan
        1
    """
    record = describe(value, name=name)
    return TensorInfo(record=record, page=tensor_page(record))
