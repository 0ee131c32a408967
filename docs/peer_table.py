"""This file makes the table of other tools out of what was measured, so that no figure is written by hand."""
# ruff: noqa: INP001

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MEASURED = Path(__file__).parents[1] / "benchmarks" / "results" / "peers-cpu.txt"
_ROW = re.compile(
    r"^(?P<workload>\S.*?)?\s{2,}(?:[\d.]+ )?(?P<tool>\S.*?)\s{2,}(?P<cost>\d+\.\d+)\s+\d+\.\d+\.\.\s*\d+\.\d+"
    r"\s+\d+\.\d+\s+(?P<level>[a-z]+\*?)\s+(?P<ours>\d+\.\d+)\s+\d+\.\d+ (?P<cheaper>yes|NO)(?P<unsure> \?)?"
)
# Columns of the list of what each tool tells.
_NAME = 28


class Row(NamedTuple):
    """A tool on a training: CPU time of a step as a ratio to the bare loop, and torchmagic's at equal information."""

    workload: str
    tool: str
    cost: str
    level: str
    ours: str
    cheaper: bool
    unsure: bool


def rows(text: str) -> Iterator[Row]:
    """Yield what a file of results has measured."""
    workload = ""
    for line in text.splitlines():
        found = _ROW.match(line)
        if found:
            workload = found["workload"] or workload
            costs = (found["cost"], found["level"], found["ours"])
            yield Row(workload, found["tool"], *costs, found["cheaper"] == "yes", bool(found["unsure"]))


def told(text: str) -> dict[str, str]:
    """Return what each tool tells, by its name."""
    lines = text.partition("What each tool tells:\n")[2].splitlines()
    return {line[2 : _NAME + 2].strip(): line[_NAME + 2 :].strip() for line in lines}


def table(text: str) -> str:
    """Return the costs as Markdown: a row for each tool, a column for each training."""
    found = list(rows(text))
    workloads = list(dict.fromkeys(row.workload for row in found))
    lines = [f"| tool | level | {' | '.join(workloads)} |", f"|---|---|{'---|' * len(workloads)}"]
    for tool in dict.fromkeys(row.tool for row in found):
        own = {row.workload: row for row in found if row.tool == tool}
        level = next(iter(own.values())).level
        cells = [_cell(own[workload]) if workload in own else "" for workload in workloads]
        lines.append(f"| {tool} | `{level}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def list_of_tools(text: str) -> str:
    """Return what each tool tells, as Markdown."""
    return "\n".join(
        ["| tool | what it tells |", "|---|---|", *(f"| {name} | {what} |" for name, what in told(text).items())]
    )


def _cell(row: Row) -> str:
    """Return the two ratios, on one line; bold where the other tool is the cheaper one."""
    both = f"{row.cost}&nbsp;:&nbsp;{row.ours}"
    return (both if row.cheaper else f"**{both}**") + ("&nbsp;?" if row.unsure else "")


if __name__ == "__main__":
    measured = MEASURED.read_text(encoding="utf-8")
    sys.stdout.write(f"{table(measured)}\n\n{list_of_tools(measured)}\n")
