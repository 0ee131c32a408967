"""This file exports to JSON: one run as ``torchmagic.load`` reads it, several as a list of such runs."""

import json
from collections.abc import Sequence
from pathlib import Path

from torchmagic.exports.exporter import Exporter
from torchmagic.session.document import FORMAT
from torchmagic.session.run import Run


def write(runs: Sequence[Run], path: Path) -> None:
    """Write the document of the one run, or a document of kind ``runs`` around those of several."""
    with path.open("w", encoding="utf-8") as file:
        if len(runs) == 1:
            file.write(runs[0].to_json())
            return
        file.write(json.dumps({"format": FORMAT, "torchmagic": "runs"})[:-1] + ', "runs": [\n')
        for number, run in enumerate(runs):
            file.write((",\n" if number else "") + run.to_json())
        file.write("\n]}\n")


EXPORTER = Exporter(name="json", what="all that is known, for programs", write=write, suffixes=(".json",))
