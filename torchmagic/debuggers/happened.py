"""This file puts into records what happened to a run as a whole: it ran before, a part of ours failed, it ended so."""

import traceback
from collections.abc import Iterable

from torchmagic.records.note import FailureRecord
from torchmagic.records.notebook import RerunRecord
from torchmagic.session.run import Run, Status

# Characters of an error's message that are told.
MOST_SAID = 300


def rerun(run: Run, earlier: Iterable[Run]) -> list[RerunRecord]:
    """Return how often the very same source ran before and made steps; nothing where it never did."""
    source = run.source.strip()
    before = [each for each in earlier if source and each.source.strip() == source and each.steps]
    return [RerunRecord(times=len(before), steps=sum(each.steps for each in before))] if before else []


def failure(name: str, error: Exception, *, where: str | None = None) -> FailureRecord:
    """Return that a part of ours raised.

    Args:
        name: The part.
        error: What it raised.
        where: File and line; None takes the innermost ones of the error's traceback.
    """
    last = traceback.extract_tb(error.__traceback__)[-1:]
    line = f"{last[0].filename.rpartition('torchmagic')[2]}:{last[0].lineno}" if last else ""
    said = str(error).partition("\n")[0][:MOST_SAID]  # torch may list all that an operator is known for
    return FailureRecord(probe=name, error=f"{type(error).__name__}: {said}", where=line if where is None else where)


def ended_well(error: BaseException | None) -> bool:
    """Whether a block ended as its code meant it to: a generator that nobody asks further and ``sys.exit()`` too."""
    return (
        error is None or isinstance(error, GeneratorExit) or (isinstance(error, SystemExit) and error.code in (None, 0))
    )


def status_of(error: BaseException | None) -> Status:
    """Return how a run ended."""
    if error is None:
        return Status.OK
    return Status.INTERRUPTED if isinstance(error, KeyboardInterrupt) else Status.ERROR
