"""This file is the lines of loaders: which line a finding about one points to."""

from dataclasses import replace

from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place


def line_of_loader(record: LoaderRecord | None, other: Place | None = None) -> Place | None:
    """Return the line that made a loader, else another one, else the line that goes through it.

    The number of a line in an earlier cell would point into the present one: it is 0, and only the text is told.
    """
    if record is None:
        return other
    if record.made is not None:
        return replace(record.made, line=0) if record.made_before else record.made
    return other or record.place
