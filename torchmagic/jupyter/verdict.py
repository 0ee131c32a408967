"""This file is the verdict: findings that end a cell with an error, where ``--fail-on`` asks for it."""

from collections.abc import Iterable
from typing import Any

from torchmagic.jupyter.cell_run import CellRun
from torchmagic.records.finding import Finding
from torchmagic.rules.failing import failing


class FindingsError(RuntimeError):
    """Findings that were to fail the cell.

    Args:
        findings: Those findings.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(f"{each.severity}: {each.title} ({each.rule})" for each in self.findings))

    def _render_traceback_(self) -> list[str]:
        """Show the findings alone, for IPython: no line of the cell raised this."""
        return [f"{type(self).__name__}: {self}"]


def verdict(runs: Iterable[CellRun]) -> FindingsError | None:
    """Return the error that the runs of a cell deserve, or None."""
    found = [finding for run in runs for finding in failing(run.findings, run.settings.fail_on)]
    return FindingsError(found) if found else None


def fail_cell(shell: Any, result: Any, error: FindingsError) -> None:
    """End a cell that ran well with an error: its reply and everything that reads it stop there."""
    result.error_in_exec = error
    shell.last_execution_succeeded = False
    shell.showtraceback((type(error), error, error.__traceback__))
