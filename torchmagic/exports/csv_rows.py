"""This file exports to CSV: one row a value, for spreadsheets and programs."""

import csv
from collections.abc import Sequence
from pathlib import Path

from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import encodable
from torchmagic.exports.points import curves
from torchmagic.session.run import Run

COLUMNS = ("run_id", "run", "metric", "subject", "step", "value")
# A cell that begins so is run as a formula by spreadsheets (OWASP, "CSV injection").
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def write(runs: Sequence[Run], path: Path) -> None:
    """Write the rows; values with all their digits, ``nan``, ``inf`` and ``-inf`` by name.

    A name that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for run in runs:
            for curve in curves(run):
                who = [_harmless(word) for word in (run.id, run.name, curve.metric, curve.subject)]
                writer.writerows((*who, *point) for point in zip(curve.steps, curve.values, strict=True))


def _harmless(word: str) -> str:
    text = encodable(word)
    return f"'{text}" if text.startswith(FORMULAS) else text


EXPORTER = Exporter(name="csv", what="one row a value", write=write, suffixes=(".csv",))
