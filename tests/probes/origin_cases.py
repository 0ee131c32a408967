"""This file is the cases of origins: cells in ``origins/harmful`` in which a value breaks, and harmless ones.

The guilty line of a cell ends in ``# here``; its head says the rest; ``# expect-op: div | sub`` allows either.
Cells are run with ``torch``, ``nn`` and ``F`` at hand, as if an earlier cell had imported them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "origins"


@dataclass(frozen=True)
class Origin:
    """A cell in which a value breaks."""

    name: str
    source: str
    direction: str
    ops: tuple
    cause: str
    module: str | None
    parameter: str | None
    line: int


def read(path):
    """Return the case in a file."""
    source = path.read_text(encoding="utf-8")
    told = dict(re.findall(r"^# expect-(\w+): (.*)$", source, re.MULTILINE))
    (line,) = (number for number, text in enumerate(source.splitlines(), 1) if text.endswith("# here"))
    return Origin(
        name=path.stem.replace("_", " "),
        source=source,
        direction=told["direction"],
        ops=tuple(told["op"].split(" | ")) if "op" in told else (),
        cause=told["cause"],
        module=told.get("module"),
        parameter=told.get("parameter"),
        line=line,
    )


ORIGINS = [read(path) for path in sorted((FOLDER / "harmful").glob("*.py"))]
HARMLESS = {
    path.stem.replace("_", " "): path.read_text(encoding="utf-8") for path in sorted((FOLDER / "harmless").glob("*.py"))
}
