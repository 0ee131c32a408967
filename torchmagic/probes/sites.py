"""This file is the site: which line of the user's code a call came from."""

import linecache
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

import torch

from torchmagic.records.place import Place

# name of the code object that calls a loss from the user's line
RELAY = "<torchmagic relay>"
_OURS = str(Path(__file__).parent.parent)
_TORCH = str(Path(torch.__file__).parent)
_LIBRARIES = tuple({sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")})
# What is installed elsewhere: for one user, for the system below an environment, on a path of a cluster.
_INSTALLED = {"site-packages", "dist-packages"}


class Site(NamedTuple):
    """A line in a code object; cheap to make, compare and hash (a code object hashes all its instructions)."""

    code: CodeType
    line: int

    def __hash__(self) -> int:
        return id(self.code) ^ self.line


class Memo:
    """The frame found last, which the listeners of one event all ask for; only while that event is told."""

    __slots__ = ("known", "open")

    def __init__(self) -> None:
        self.open = False
        # A frame and the one found for it, as one: another thread may ask. Let go of as soon as the event is over.
        self.known: tuple[FrameType, FrameType | None] | None = None


MEMO = Memo()


def caller_of(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code at or above a frame.

    Code of torch and torchmagic never counts; other libraries count only when none of the user's own is above.
    """
    known = MEMO.known
    if known is not None and known[0] is frame:
        return known[1]
    found, fallback = frame, None
    while found is not None:
        code = found.f_code
        kind = kind_of(code.co_filename)
        if kind == "user" and code.co_name != RELAY:
            break
        if kind == "library" and fallback is None:
            fallback = found
        found = found.f_back
    found = found or fallback
    if MEMO.open and frame is not None:
        MEMO.known = frame, found
    return found


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code at or above a frame; None where there is none."""
    found = caller_of(frame)
    return found if found is not None and is_users(found) else None


def site_of(frame: FrameType | None) -> Site | None:
    """Return the innermost line of the user's own code at or above a frame, or, where there is none, of a library."""
    found = caller_of(frame)
    return Site(found.f_code, found.f_lineno) if found is not None else None


def sites_above(frame: FrameType | None, *, most: int) -> tuple[Site, ...]:
    """Return the lines of the user's own code that led to a frame, the innermost first; without any, a library's."""
    found: list[Site] = []
    each = user_frame(frame)
    while each is not None and len(found) < most:
        found.append(Site(each.f_code, each.f_lineno))
        each = user_frame(each.f_back)
    innermost = site_of(frame) if not found else None
    return (innermost,) if innermost is not None else tuple(found)


def here(depth: int = 1) -> Site | None:
    """Return the user's line that led to the caller."""
    return site_of(sys._getframe(depth))


def place_of(site: Site | None) -> Place | None:
    """Return a site as a record, with the text of its line."""
    if site is None:
        return None
    file = site.code.co_filename
    source = linecache.getline(file, site.line).strip()
    return Place(file=file, line=site.line, source=source, function=site.code.co_name)


def source_of(file: str) -> str:
    """Return the text of a file or a cell; empty where it cannot be read."""
    return "".join(linecache.getlines(file))


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs the user's own code."""
    return kind_of(frame.f_code.co_filename) == "user"


def is_librarys(frame: FrameType) -> bool:
    """Whether a frame runs code of a library other than torch and torchmagic."""
    return kind_of(frame.f_code.co_filename) == "library"


def is_users_file(filename: str) -> bool:
    """Whether a file holds the user's own code."""
    return kind_of(filename) == "user"


def is_torchs(kind: type) -> bool:
    """Whether a class is one of torch's; one that was made by ``exec`` in a bare dict belongs to no module."""
    return str(kind.__module__).startswith("torch.")


def is_ours(filename: str) -> bool:
    """Whether a file belongs to torchmagic."""
    return filename.startswith(_OURS)


def past_ours(frame: FrameType) -> FrameType:
    """Return the first frame at or above one that is not torchmagic's, and does not stand for a function of torch's."""
    while frame.f_back is not None and (frame.f_code.co_name == RELAY or is_ours(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame


def hide_ours(error: BaseException) -> None:
    """Take torchmagic's frames out of an exception's traceback; a bare ``raise`` brings back no present one."""
    first = entry = _past(error.__traceback__)
    while entry is not None:
        following = _past(entry.tb_next)
        if following is not entry.tb_next:  # setting it walks the rest
            entry.tb_next = following
        entry = following
    BaseException.with_traceback(error, first)  # a class of the user's is not asked


def _past(entry: TracebackType | None) -> TracebackType | None:
    while entry is not None:
        code = entry.tb_frame.f_code
        if not (is_ours(code.co_filename) or code.co_name == RELAY):
            break
        entry = entry.tb_next
    return entry


@cache
def kind_of(filename: str) -> str:
    """Return whose code a file holds: ``"torch"``, which torchmagic's own is as well, ``"library"`` or ``"user"``."""
    if filename.startswith((_OURS, _TORCH, "<frozen")):
        return "torch"
    is_librarys = filename.startswith(_LIBRARIES) or not _INSTALLED.isdisjoint(Path(filename).parts[:-1])
    return "library" if is_librarys else "user"
