"""This file is the page of the switches: which probes are on for the runs to come, and why."""

from collections.abc import Mapping
from typing import Any

from torchmagic.views.page import Page, Table, Text

_HOW = (
    "%torchsession enable, disable and level change this: for the runs to come, and for one that goes on from its next "
    "step on."
)


def switch_page(is_on: Mapping[str, bool], values: Mapping[str, Any]) -> Page:
    """Return a table of all probes, and which of them were switched.

    Args:
        is_on: Whether each probe is on, by name.
        values: What was switched, as fields of ``Settings``: ``level``, ``also`` and ``without``, where they are set.
    """
    rows = [(name, "on" if on else "off", _why(name, values)) for name, on in is_on.items()]
    level = values.get("level")
    lead = f"All runs are watched at level {level}." if level else "Each run is watched at its own level."
    table = Table(
        columns=("probe", "is", "because"),
        rows=rows,
        marked=frozenset(index for index, row in enumerate(rows) if row[2]),
    )
    return Page(title="Switches", blocks=[Text(text=lead, strong=True), table, Text(text=_HOW)])


def _why(name: str, values: Mapping[str, Any]) -> str:
    if name in values.get("without", ()):
        return "switched off"
    return "switched on" if name in values.get("also", ()) else ""
