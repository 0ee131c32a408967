"""This file loads saved runs and gives them what they need to be drawn again; of a launch, all its ranks at once."""

from pathlib import Path

from torchmagic.rules.judgement import judge, judge_ranks
from torchmagic.session import loading
from torchmagic.session.launches import is_launch, read_launch
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run, Status
from torchmagic.views.brief import run_text
from torchmagic.views.report import report


def load(path: str | Path) -> Run:
    """Read a run that ``run.save(path)`` wrote, or the ranks of a launch.

    Args:
        path: The file; or the folder of a launch, such as ``.torchmagic/ranks/<launch>``, or a copy of it. The run is
            then rank 0's, or that of the first rank that left one; ``run.ranks`` has all of them, and the findings are
            those that all of them together give.

    Raises:
        ValueError: If there is no run; the message says what came instead.
        OSError: If it cannot be read.
    """
    folder = Path(path).expanduser()
    if folder.is_dir():
        if not is_launch(folder):
            raise ValueError(f"{path} is a folder without runs of ranks; give .torchmagic/ranks/<launch>, or a file")
        return judged_together(read_launch(folder))
    run = loading.load(path)
    run.draw_with(report, run_text)
    return run


def judged_together(ranks: Ranks) -> Run:
    """Return the run of the first rank, judged with what all of them recorded."""
    run = ranks.runs[min(ranks.runs)]
    run.join(ranks)
    run.draw_with(report, run_text)
    run.findings = judge(run, _leave_out) if run.status is Status.LOST else judge_ranks(run, _leave_out)
    return run


def _leave_out(_rule: str, _error: Exception) -> None:
    """Go on without a rule that raised: the run itself says so where it was judged as it ended."""
