"""This file is what comes of a watched program: files, findings on the terminal, and the exit status."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.commands.exit_codes import FINDINGS, OK
from torchmagic.commands.words import complain, remark
from torchmagic.exports.catalogue import export
from torchmagic.rules.failing import failing
from torchmagic.session.run import Run, Status
from torchmagic.session.session import session
from torchmagic.views.brief import run_text


def unseen(settings: Mapping[str, Any], error: BaseException | None) -> Run:
    """Return a run of which nothing was seen, so that the files that CI waits for are there."""
    run = Run(name=settings["name"], settings=settings)
    run.status = Status.OK if error is None else Status.ERROR
    return run


def write_all(run: Run, files: Mapping[str, Path]) -> int:
    """Write a run to files; return the exit status.

    Args:
        run: The run.
        files: Where to, by the form.
    """
    status = OK
    for form, path in files.items():
        try:
            export(run, path, to=form)
        except (ValueError, OSError) as error:
            status = complain(error)
    return status


def tell(run: Run, *, fail_on: str, quiet: bool) -> int:
    """Say what was found below what the program wrote, whose own output stays free of us; return the exit status.

    Args:
        run: The run, which is over.
        fail_on: Which findings fail it.
        quiet: Whether nothing is said where nothing was found.
    """
    is_stored = any(entry.saved for entry in session.history() if entry.id == run.id)  # the run has its number now
    if run.findings or not quiet:
        rest = f"More: python -m torchmagic report {run.number} --full" if is_stored else ""
        _write(run_text(run, more=rest))
    for warning in session.warnings:
        complain(warning)
    failed = len(failing(run.findings, fail_on))
    if failed:
        _write(f"torchmagic: failed by {counted(failed, 'finding')} (--fail-on {fail_on})")
    return FINDINGS if failed else OK


def _write(text: str) -> None:
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # a full disk, or a pipe or file that is closed, is told by Python itself
            sys.stdout.flush()
    remark(f"\n{text}")
