"""This file is the readers: whether the code around a backward takes values from ``.grad`` by hand."""

from collections.abc import Iterable
from types import FrameType, FunctionType

from torchmagic.analyses.gradient_lines import reads_gradients
from torchmagic.probes.sites import is_users, source_of

# Frames above the backward that are looked at.
MOST_FRAMES = 16


def files_around(frame: FrameType | None) -> tuple[str, ...]:
    """Return the cells and files that led to a backward, and those with a function that is called there."""
    files: dict[str, None] = {}
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        if is_users(frame):
            files[frame.f_code.co_filename] = None
            called = (frame.f_globals.get(name) for name in frame.f_code.co_names)
            files |= {each.__code__.co_filename: None for each in called if type(each) is FunctionType}
        frame = frame.f_back
    return tuple(files)


def any_reads(files: Iterable[str]) -> bool:
    """Whether one of these cells and files reads gradients; to parse them takes longer than many a step."""
    return any(reads_gradients(source_of(file)) for file in files)
