"""This file is ``torchmagic.profile()``: a block of code profiled, in a script or anywhere else."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torchmagic.api.baseline import BASELINE, baseline_id
from torchmagic.api.profile_request import ProfileRequest
from torchmagic.debuggers.followed import followed
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.probe import Probe
from torchmagic.profiling.collect import Profiling
from torchmagic.profiling.facts import facts
from torchmagic.profiling.lines import Lines
from torchmagic.session.run import Run
from torchmagic.session.session import session
from torchmagic.session.whole_file import file_behind


@contextmanager
def profile(**settings: Any) -> Iterator[Run]:
    """Profile the code inside the ``with`` block: where its time and memory go.

    Of code that trains, 20 optimizer steps are profiled, after 2 to warm up; code without any is profiled whole. Lines
    of functions from local files and cells are timed, those of the block itself are not.

    Args:
        **settings: The options of ``%%torchprofile``, such as ``steps=50``, ``memory=True``, ``baseline="last"`` or
            ``name="with amp"``.

    Yields:
        The run; what was found is there once the block has ended.

    Raises:
        ValueError: If a setting is unknown or wrong, or there is no such baseline or folder for a trace.
        OSError: If the report could not be written where it is to be; before the block begins.
        FindingsError: If the block ended well and has findings that ``fail_on`` names; a RuntimeError.
    """
    names = sys._getframe(2).f_globals  # noqa: SLF001 - the caller's names; one frame up is contextlib's
    request = ProfileRequest.from_dict(settings)
    more = kept(request)
    watching = Watch(request.watch, namespace=names, beside=probes(request, names))
    watching.run.settings |= more
    with followed(watching) as run:
        yield run


def kept(request: ProfileRequest) -> dict[str, Any]:
    """Return what the settings of a profile's run hold beside those of a watched one.

    Raises:
        ValueError: If there is no such baseline, or the trace has no place.
    """
    _need_place(request.profiling.trace)
    baseline = {BASELINE: baseline_id(session, request.baseline)} if request.baseline else {}
    return {**request.to_dict(), **baseline}


def _need_place(trace: str) -> None:
    """Refuse a trace that could not be written once all is over, before anything runs."""
    if trace:
        path = Path(trace).expanduser()
        try:
            file_behind(path, ".json")
        except OSError as error:
            raise ValueError(f"trace: {error}") from None


def probes(
    request: ProfileRequest,
    names: Mapping[str, Any],
    *,
    lines: Lines | None = None,
    file_names: Callable[[], Mapping[str, str]] = dict,
) -> tuple[Probe, ...]:
    """Return the probes that a profile needs beside those of its run's settings.

    Args:
        request: What was asked for.
        names: The user's names.
        lines: The lines of a cell that have ranges already; None where there are none yet.
        file_names: Tells, at the end, what to call files, such as ``this cell``.
    """
    profiling = Profiling(
        request.profiling,
        namespace=names,
        lines=(lines or Lines()) if request.profiling.lines else None,
        keep_source=request.watch.keep_source,
        file_names=file_names,
    )
    return (profiling, *facts(names, verify=request.profiling.verify))
