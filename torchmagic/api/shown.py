"""This file is what a view comes back as: it shows itself in a notebook, in a terminal and in print."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torchmagic.views.page import Page
from torchmagic.views.self_shown import SelfShown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Shown(SelfShown):
    """Pages, and what they tell of.

    Args:
        pages: What is shown, in order.
        title: Heading above them; empty for none.
        content: The same for programs: the entries of a history, or runs.
        num_rows: Most rows of a table to show; None leaves that to the skin.
    """

    pages: Sequence[Page]
    title: str = ""
    content: tuple[Any, ...] = ()
    num_rows: int | None = None

    def __str__(self) -> str:
        # The skins are loaded only when something is shown.
        from torchmagic.views.skins.text import NUM_ROWS, as_text  # noqa: PLC0415

        return as_text(self.pages, title=self.title, num_rows=self.num_rows or NUM_ROWS)

    def _repr_html_(self) -> str:
        from torchmagic.views.skins.html import NUM_ROWS, as_html  # noqa: PLC0415
        from torchmagic.views.skins.matplotlib import as_png  # noqa: PLC0415

        return as_html(self.pages, title=self.title, draw=as_png, num_rows=self.num_rows or NUM_ROWS)
