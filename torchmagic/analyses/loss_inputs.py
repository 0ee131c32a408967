"""This file groups what losses were given by the line of the loss."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import beside, text_around
from torchmagic.records.loss import LossInputRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run

# The graph holds a cross-entropy as what it ends in.
WRITTEN_AS = {"nll_loss": ("nll_loss", "cross_entropy")}


def input_lines(run: Run, losses: Sequence[str]) -> Iterator[list[LossInputRecord]]:
    """Yield the records of each line and function, in order of appearance.

    Args:
        run: The run.
        losses: Functions that are asked for.
    """
    records = [record for record in run.of(LossInputRecord) if record.loss in losses]
    for loss, place in dict.fromkeys((record.loss, record.place) for record in records):
        found = [record for record in records if (record.loss, record.place) == (loss, place)]
        better = _line_of_loss(run, loss, place)
        yield found if better is place else [replace(record, place=better) for record in found]


def _line_of_loss(run: Run, loss: str, place: Place | None) -> Place | None:
    """Return where a loss that was read from the graph at its backward is computed, when one line alone calls it."""
    if place is None or "backward(" not in place.source or f"{loss}(" in place.source:
        return place
    lines = lines_calling(text_around(run, place), WRITTEN_AS.get(loss, (loss,)))
    return beside(run, place, lines[0]) if len(lines) == 1 else place
