"""This file scores torchmagic on labelled notebook cells, each run in an interpreter and a shell of its own.

A cell is a Python file: a header of ``# key: value`` lines, ``# --- setup ---`` with the cells before it and
``# --- cell ---`` with the watched one. The header says what is wrong with it (``expect``, any of these ids), what
may be said besides (``allow``), and where the fault lies (``line``, ``module``, ``param``; any one will do).

    python tests/corpus/scoring.py [folder] [--only TEXT] [--jobs 2]
"""

import argparse
import json
import multiprocessing
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

CELLS = Path(__file__).parent / "cells"
ANSWER, SAID = "answer.json", "said.txt"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
FORKING = multiprocessing.get_context("forkserver")
# What each cell would load again, for seconds; a process whose first watched line loads it all is tests/debuggers'.
LOADED = ["torch", "torch._dynamo", "sklearn.datasets", "IPython"]
LOADED += ["torchmagic.jupyter.cell_run", "torchmagic.debuggers.watching", "torchmagic.api.session"]
FORKING.set_forkserver_preload(LOADED)
LOUD = ("error", "warning")
TOLD = ("rule", "severity", "confidence", "module", "parameter", "line", "source", "title")
PLACES = ("line", "module", "param")
WIDTHS = (10, 7, 9, 9, 11, 9, 9, 8)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One labelled cell: its two parts and what its header says."""

    path: Path
    setup: str
    cell: str
    header: dict[str, str]

    @property
    def name(self):
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def buggy(self):
        return self.header["kind"] == "buggy"

    def ids(self, key):
        return {part.strip() for part in self.header.get(key, "").split(",")} - {""}


@dataclass(frozen=True, kw_only=True)
class Score:
    """What became of one cell; ``located`` is None where the header names no place."""

    case: Case
    findings: list = field(default_factory=list)
    caught: bool = False
    first: bool = False
    located: bool | None = None
    extra: tuple[str, ...] = ()
    broken: str = ""


def read(path):
    """Split a file at its two marks and its header into keys and values."""
    before, _, rest = path.read_text(encoding="utf-8").partition("# --- setup ---\n")
    setup, mark, cell = rest.partition("# --- cell ---\n")
    if not mark:
        raise ValueError(f"{path} has no setup or no cell")
    return Case(
        path=path, setup=setup, cell=cell, header=dict(re.findall(r"^# (\w+): +(.*?) *$", before, re.MULTILINE))
    )


def cases(folder=CELLS, only=""):
    """Return the cells below a folder whose names hold a text."""
    found = [read(path) for path in sorted(Path(folder).rglob("*.py"))]
    return [case for case in found if only in case.name]


def watch_here(setup, cell):
    """Run both parts in this interpreter's shell, the second one watched, and tell what was found."""
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "torchmagic")
    prepared = shell.run_cell(setup)
    if not prepared.success:
        return {"broken": f"the setup failed: {prepared.error_before_exec or prepared.error_in_exec!r}"}
    import torchmagic  # noqa: PLC0415

    known = len(torchmagic.session.runs)
    done = shell.run_cell(f"%%torchdebug --panel none\n{cell}")
    runs = torchmagic.session.runs[known:]
    if len(runs) != 1:
        return {"broken": f"{len(runs)} runs came of one cell"}
    error = done.error_before_exec or done.error_in_exec
    told = [{name: getattr(finding, name, None) for name in TOLD} for finding in runs[0].findings]
    return {"findings": told, "raised": type(error).__name__ if error else ""}


def run(case, seconds):
    """Run a cell in a process of its own and judge what came back."""
    return judged(case, **answer_to(case.setup, case.cell, seconds))


def answer_to(setup, cell, seconds):
    """Watch a cell in a process of its own, and return what was found, or what it broke on."""
    with tempfile.TemporaryDirectory() as folder:
        process = FORKING.Process(target=answer_in, args=(folder, setup, cell))
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
            return {"broken": f"no answer in {seconds} s"}
        answer = Path(folder) / ANSWER
        if not answer.exists():
            return {"broken": (Path(folder) / SAID).read_text(errors="replace").strip()[-200:]}
        return json.loads(answer.read_text())


def answer_in(folder, setup, cell):
    """Watch a cell in a folder, and leave there what was found and what was printed."""
    multiprocessing.set_start_method(None, force=True)  # a child of the server would start workers by it as well
    os.chdir(folder)
    said = os.open(SAID, os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    answer = json.dumps(watch_here(setup, cell), default=str)
    (Path(folder) / ANSWER).write_text(answer)


def judged(case, *, findings=(), raised="", broken=""):
    """Compare what was found with what the header says."""
    if broken or raised != case.header.get("raises", ""):
        return Score(case=case, broken=broken or f"it raised {raised or 'nothing'}")
    wanted = case.ids("expect")
    hits = [finding for finding in findings if finding["rule"] in wanted]
    loud = [finding for finding in findings if finding["severity"] in LOUD]
    # Where nothing is louder than information, the first line that a user reads is the first of that.
    ranked = loud or findings
    return Score(
        case=case,
        findings=findings,
        caught=bool(hits),
        first=bool(ranked) and ranked[0]["rule"] in wanted,
        located=any(placed(case, finding) for finding in hits) if set(PLACES) & set(case.header) else None,
        extra=tuple(sorted({finding["rule"] for finding in loud} - wanted - case.ids("allow"))),
    )


def placed(case, finding):
    """Tell whether a finding points at one of the places of the header."""
    line, module, parameter = (case.header.get(place) for place in PLACES)
    owner = f"{finding['module'] or ''} {finding['parameter'] or ''}"
    return bool(
        (line and (line in (finding["source"] or "") or line == str(finding["line"])))
        or (module and module in owner)
        or (parameter and parameter in (finding["parameter"] or ""))
    )


def score(chosen, jobs=2, seconds=120):
    """Run cells, a few at a time, and return their scores in order."""
    return _side_by_side(lambda case: run(case, seconds), chosen, jobs)


def watched(parts, jobs=2, seconds=120):
    """Watch cells, given as setup and cell, a few at a time, and return in order what was found."""
    return _side_by_side(lambda part: answer_to(*part, seconds), parts, jobs)


def _side_by_side(work, given, jobs):
    os.environ |= ENVIRONMENT  # for the process that all others are forked from, which loads torch once
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, given))


def share(values):
    """Return the share of what is true; of nothing, all."""
    values = list(values)
    return sum(values) / len(values) if values else 1.0


def lines(scores):
    """Yield the table, and below it what was missed, misplaced, or said too much."""
    heads = ("folder", "cells", "caught", "first", "located", "extra", "silent", "broken")
    yield "".join(head.ljust(width) for head, width in zip(heads, WIDTHS, strict=True))
    for folder in sorted({one.case.path.parent.name for one in scores}):
        rows = [one for one in scores if one.case.path.parent.name == folder]
        buggy = [one for one in rows if one.case.buggy]
        shares = (
            [share(getattr(one, what) for one in buggy if getattr(one, what) is not None) for what in heads[2:5]]
            if buggy
            else [None] * 3
        )
        shares += [share(bool(one.extra) for one in buggy) if buggy else None]
        shares += [None if buggy else share(not one.extra for one in rows)]
        texts = [folder, len(rows), *("" if one is None else f"{one:.3f}" for one in shares)]
        texts.append(sum(bool(one.broken) for one in rows))
        yield "".join(str(text).ljust(width) for text, width in zip(texts, WIDTHS, strict=True))
    for one in scores:
        if said := complaint(one):
            yield f"{one.case.name}: {said}"


def complaint(one):
    """Return what went wrong with one cell, with what was found instead, or nothing."""
    if one.broken:
        return f"BROKEN {one.broken}"
    said = [f"false alarm {' '.join(one.extra)}"] if one.extra and not one.case.buggy else []
    if one.case.buggy:
        said += [f"also {' '.join(one.extra)}"] if one.extra else []
        for fault, text in (
            (not one.caught, "missed"),
            (not one.first, "not first"),
            (one.located is False, "misplaced"),
        ):
            said += [f"{text} {'/'.join(sorted(one.case.ids('expect')))}"] if fault else []
    found = ", ".join(f"{finding['rule']}@{finding['line'] or finding['module']}" for finding in one.findings)
    return f"{'; '.join(said)} (found: {found or 'nothing'})" if said else ""


def main():
    """Score a folder from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=CELLS)
    parser.add_argument("--only", default="", help="a part of folder/name")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    options = parser.parse_args()
    scores = score(cases(options.folder, options.only), options.jobs)
    sys.stdout.write("\n".join(lines(scores)) + "\n")


if __name__ == "__main__":
    main()
