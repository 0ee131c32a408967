"""This file is what a finder returns: what each setting gave, which one to take, and the code to paste."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torchmagic.tuning.measure import Spread
from torchmagic.views.page import Page
from torchmagic.views.self_shown import SelfShown

BEST, AS_GOOD, SLOWER, UNTOLD, ONLY = "fastest", "as fast", "slower", "too few rounds", "the only one"
FITS, TOO_TIGHT = "fits", "too little headroom"
_NUM_ROWS = 40
_WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRow:
    """What one setting gave.

    Args:
        setting: Values by the names that they are given under, such as ``{"num_workers": 2}``.
        times: Seconds of what is compared: of a sample, a batch or a step; None where it was not timed.
        verdict: ``"fastest"``, ``"as fast"`` (no difference beyond noise), ``"slower"``, ``"too few rounds"`` to tell,
            ``"the only one"``, ``"fits"`` or ``"too little headroom"``; empty where it failed.
        failure: Why it was not timed, in one line.
        figures: What else was measured, by name: ``samples_per_second``, ``peak_mib``, ``headroom`` (share 0..1),
            ``wait`` and ``start`` (seconds).
    """

    setting: Mapping[str, Any]
    times: Spread | None = None
    verdict: str = ""
    failure: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float | None:
        """Seconds, the median of all rounds; None where it was not timed."""
        return None if self.times is None else self.times.median


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FoundSettings(SelfShown):
    """What a finder found; ``print`` shows it as text, a notebook as HTML.

    Args:
        rows: One a setting, in the order in which they are shown.
        recommended: The setting to take; None where nothing was told.
        code: The line to paste; empty where there is nothing to change.
        notes: What else is to be known, one line each.
        seconds: What the search took.
        page: All of it for readers.
    """

    rows: tuple[FoundRow, ...]
    recommended: Mapping[str, Any] | None
    code: str
    notes: tuple[str, ...]
    seconds: float
    page: Page

    def __str__(self) -> str:
        # The skins are loaded only when something is shown.
        from torchmagic.views.skins.text import as_text  # noqa: PLC0415

        return as_text(self.page, num_rows=_NUM_ROWS, width=_WIDTH)

    def _repr_html_(self) -> str:
        from torchmagic.views.skins.html import as_html  # noqa: PLC0415

        return as_html(self.page, num_rows=_NUM_ROWS)
