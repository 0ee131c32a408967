"""This file is the verdict: findings that end a cell with an error, where ``--fail-on`` asks for it."""

from collections.abc import Iterable
from typing import Any

from torchmagic.jupyter.cell_run import CellRun
from torchmagic.rules.failing import FindingsError, failing


def verdict(runs: Iterable[CellRun]) -> FindingsError | None:
    """Return the error that the runs of a cell deserve, or None."""
    found = [finding for run in runs for finding in failing(run.findings, run.settings.fail_on)]
    return FindingsError(found) if found else None


def fail_cell(shell: Any, result: Any, error: FindingsError) -> None:
    """End a cell that ran well with an error: its reply and everything that reads it stop there."""
    result.error_in_exec = error
    shell.last_execution_succeeded = False
    shell.showtraceback((type(error), error, error.__traceback__))
