"""This file is the watch around a program: opened when torch arrives, closed at the program's end."""

from collections.abc import Mapping
from typing import Any

from torchmagic.analyses.finding_files import FILE
from torchmagic.commands.program import Program
from torchmagic.commands.words import complain
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.sites import hide_ours
from torchmagic.session.run import Run
from torchmagic.views.ranks_ends import found_elsewhere


def begin(program: Program, settings: Mapping[str, Any]) -> Watch:
    """Watch torch from here on.

    Args:
        program: What runs.
        settings: The fields of ``Settings``.
    """
    watch = Watch(Settings.from_dict(settings), namespace=program.main.__dict__, source=program.source)
    watch.run.settings |= {FILE: program.file}
    watch.start()
    return watch


def end(watch: Watch, error: BaseException | None) -> Run:
    """Leave torch as it was found and draw the findings.

    Args:
        watch: The open watch.
        error: What ended the program; None where it ended by itself and well.
    """
    try:
        run = watch.stop(error)
        if run.ranks is not None:  # a build is told of all ranks at once
            run.findings = (*run.findings, *found_elsewhere(run, run.ranks))
    except Exception as failure:  # noqa: BLE001 - the wall: our failure is never the program's
        complain(f"the findings could not be drawn ({type(failure).__name__}: {failure})")
    return watch.run


def hide_our_lines(error: BaseException) -> None:
    """Take torchmagic's lines out of the traceback that is about to be shown, and of those that led to it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            hide_ours(each)
            waiting += [each.__cause__, each.__context__]
            waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else []
