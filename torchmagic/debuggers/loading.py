"""This file loads a saved run and gives it what it needs to be drawn again."""

from pathlib import Path

from torchmagic.session import loading
from torchmagic.session.run import Run
from torchmagic.views.report import report


def load(path: str | Path) -> Run:
    """Read a run that ``run.save(path)`` wrote.

    Raises:
        ValueError: If the file holds no run; the message says what came instead.
        OSError: If the file cannot be read.
    """
    run = loading.load(path)
    run.draw_with(report)
    return run
