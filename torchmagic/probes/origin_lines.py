"""This file is the lines of a replay: from frames that run, from what a node of the graph keeps, and behind it."""

import linecache
import re
from types import CodeType, FrameType
from typing import Any

from torch.autograd.graph import _engine_run_backward

from torchmagic.analyses.gradient_changes import changed_between
from torchmagic.probes.sites import Site, is_users, is_users_file, place_of, source_of
from torchmagic.records.place import Place

_ENTRY = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def line_of_frame(frame: FrameType | None, boundary: CodeType) -> Place | None:
    """Return the innermost line of the user's that runs inside the replay; None when it is torch's own alone."""
    while frame is not None and frame.f_code is not boundary:
        if is_users(frame):
            return place_of(Site(frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return None


def line_in_backward(frame: FrameType | None) -> Place | None:
    """Return the innermost line of the user's that a backward runs, inside of a forward too; None for torch's own."""
    return line_of_frame(frame, _engine_run_backward.__code__)


def line_of_node(node: Any, boundary: CodeType) -> Place | None:
    """Return the line whose forward made a node of the graph, from what anomaly mode has it remember."""
    kept = node.metadata.get("traceback_") or ()
    entries = [found for text in ([kept] if isinstance(kept, str) else kept) for found in _ENTRY.findall(text)]
    for file, line, function in reversed(entries):
        if file == boundary.co_filename and function == boundary.co_name:
            return None
        if is_users_file(file):
            source = linecache.getline(file, int(line)).strip()
            return Place(file=file, line=int(line), source=source, function=function)
    return None


def line_changing(backward: Site, seen: Site | None) -> Site | None:
    """Return the line between a backward and where its gradients were seen that changes them by hand."""
    if seen is None or seen == backward:
        return None
    first = backward.line if backward.code is seen.code else 0
    line = changed_between(source_of(seen.code.co_filename), first, seen.line)
    return Site(seen.code, line) if line is not None else None
