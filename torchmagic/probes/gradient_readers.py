"""This file is the readers: whether the code around a backward takes values from ``.grad`` by hand."""

from types import FrameType, FunctionType

from torchmagic.analyses.gradient_lines import reads_gradients
from torchmagic.probes.sites import is_users, source_of

# Frames above the backward that are looked at.
MOST_FRAMES = 16


def reads_around(frame: FrameType | None) -> bool:
    """Whether a cell or file that led to a backward reads gradients, or one with a function that is called there."""
    files: dict[str, None] = {}
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        if is_users(frame):
            files[frame.f_code.co_filename] = None
            called = (frame.f_globals.get(name) for name in frame.f_code.co_names)
            files |= {each.__code__.co_filename: None for each in called if isinstance(each, FunctionType)}
        frame = frame.f_back
    return any(reads_gradients(source_of(file)) for file in files)
