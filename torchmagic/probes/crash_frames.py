"""This file reads the frames that an exception has left: the failing expression, the tensors it names, the modules.

These frames are over, so that reading their variables keeps nothing alive that they do not keep. No code of the user's
runs: attributes are looked up in dictionaries, and nothing is printed.
"""

import ast
import inspect
import itertools
import linecache
import sys
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmagic.analyses.crash_kinds import kind_of
from torchmagic.analyses.syntax import parsed
from torchmagic.probes.crash_names import MOST_ITEMS, MOST_TENSORS
from torchmagic.probes.overriding import overrides_functions
from torchmagic.probes.sites import RELAY, Site, is_ours, is_users, place_of
from torchmagic.records.crash import CrashKind, TensorFact
from torchmagic.records.place import Place

# Entries of a traceback that are read.
MOST_ENTRIES = 256
# How many errors are followed from one to what it was raised from.
MOST_CAUSES = 8
# Functions of torch that pass on what they were given.
RELAYS = frozenset({"_call_impl", "_wrapped_call_impl", "__call__", "_conv_forward", "_max_pool2d", "fn"})


class Entry(NamedTuple):
    """A frame of a traceback, the line it stood at, and the instruction."""

    frame: FrameType
    line: int
    instruction: int

    @property
    def place(self) -> Place | None:
        """The line as a record."""
        return place_of(Site(self.frame.f_code, self.line))


def torchs_error(error: BaseException) -> tuple[BaseException, CrashKind] | None:
    """Return the error in a chain that torch raised, and what it complains about; the shown error comes first."""
    each: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if each is None or not isinstance(each, Exception):
            return None
        kind = kind_of(message_of(each), line=_line_of(each))
        if kind is not None:
            return each, kind
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return None


def message_of(error: BaseException) -> str:
    """Return what an error says, where no code of the user's makes it up."""
    if type(error).__str__ not in (BaseException.__str__, Exception.__str__, KeyError.__str__, OSError.__str__):
        made_by = str(getattr(type(error), "__module__", ""))
        if made_by not in ("builtins", "numpy", "torch") and not made_by.startswith(("numpy.", "torch.")):
            return ""
    return str(error)


def entries_of(error: BaseException) -> list[Entry]:
    """Return the frames of an error, the innermost last, without those of torchmagic."""
    found = []
    entry: TracebackType | None = error.__traceback__
    for _ in range(MOST_ENTRIES):
        if entry is None:
            break
        code = entry.tb_frame.f_code
        if not is_ours(code.co_filename) and code.co_name != RELAY:
            found.append(Entry(entry.tb_frame, entry.tb_lineno, entry.tb_lasti))
        entry = entry.tb_next
    return found


def users(entries: list[Entry]) -> list[Entry]:
    """Return those of the user's own code."""
    return [entry for entry in entries if is_users(entry.frame)]


def names_in(frame: FrameType) -> Mapping[str, Any]:
    """Return the variables of a frame that is over, or of a module.

    A function that still runs is not asked before Python 3.13: the answer would keep its variables alive.
    """
    if not frame.f_code.co_flags & inspect.CO_NEWLOCALS:
        return frame.f_locals
    return {} if sys.version_info < (3, 13) and runs(frame) else frame.f_locals


def expression_at(entry: Entry) -> tuple[str, ast.expr | None]:
    """Return the expression that raised as it is written, and as a tree."""
    code = entry.frame.f_code
    positions = next(itertools.islice(code.co_positions(), entry.instruction // 2, None), None)
    if positions is None or None in positions:
        return "", None
    first, last, start, end = (int(each or 0) for each in positions)
    lines = [linecache.getline(code.co_filename, line).encode() for line in range(first, last + 1)]
    if not lines or not any(lines):
        return "", None
    lines[-1] = lines[-1][:end]  # before the first, which may be the same line
    lines[0] = lines[0][start:]
    text = b"".join(lines).decode(errors="replace")
    for attempt in (f"({text})", text):
        try:
            tree = parsed(attempt).body[0]
        except (SyntaxError, ValueError, IndexError):
            continue
        return " ".join(text.split()), tree.value if isinstance(tree, ast.Expr) else _whole(tree)
    return " ".join(text.split()), None


def fact(name: str, tensor: torch.Tensor) -> TensorFact | None:
    """Describe a tensor; None for one that has no shape yet, or whose class answers for itself."""
    if is_lazy(tensor) or overrides_functions(tensor):
        return None
    node = tensor.grad_fn
    return TensorFact(
        name=name,
        shape=tuple(int(size) for size in tensor.shape) if not tensor.is_nested else (),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        made_by=node.name() if node is not None else "",
    )


def facts(named: list[tuple[str, torch.Tensor]]) -> tuple[TensorFact, ...]:
    """Describe tensors by name."""
    return tuple(each for name, tensor in named[:MOST_TENSORS] if (each := fact(name, tensor)) is not None)


def modules_in(entries: list[Entry]) -> list[nn.Module]:
    """Return the modules whose methods the frames run, the innermost last."""
    found = []
    for entry in entries:
        code = entry.frame.f_code
        owner = names_in(entry.frame).get(code.co_varnames[0]) if code.co_argcount else None
        if isinstance(owner, nn.Module):
            found.append(owner)
    return found


def arguments_of(entry: Entry) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors that a function was given, by the names of its parameters, items of lists one by one."""
    names, code = names_in(entry.frame), entry.frame.f_code
    found: list[tuple[str, torch.Tensor]] = []
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    for name in code.co_varnames[:count]:
        value: Any = names.get(name)
        if isinstance(value, torch.Tensor):
            found.append((name, value))
        elif type(value) in (list, tuple):
            items = itertools.islice(value, MOST_ITEMS)
            found += [(f"{name}[{i}]", each) for i, each in enumerate(items) if isinstance(each, torch.Tensor)]
    return found


def calls_of(module: nn.Module, entries: list[Entry]) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors that a module was called with, by the names of the parameters of its ``forward``."""
    for entry in reversed(entries):
        names = names_in(entry.frame)
        if entry.frame.f_code.co_name == "_call_impl" and names.get("self") is module:
            code = getattr(type(module).forward, "__code__", None)
            words = code.co_varnames[1 : code.co_argcount] if code is not None else ()
            given = [*itertools.zip_longest(words[: len(names["args"])], names["args"], fillvalue="input")]
            return [(str(n), v) for n, v in [*given, *names["kwargs"].items()] if isinstance(v, torch.Tensor)]
    return []


def _whole(tree: ast.stmt) -> ast.expr | None:
    """Return what a statement reads and changes as one expression."""
    parts = [node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.expr)]
    return ast.Tuple(elts=parts, ctx=ast.Load()) if parts else None


def _line_of(error: BaseException) -> str:
    entries = users(entries_of(error))
    place = entries[-1].place if entries else None
    return place.source if place is not None else ""


def runs(frame: FrameType) -> bool:
    """Whether a frame is one that led here: it has not ended with the exception."""
    running: FrameType | None = sys._getframe()
    while running is not None:
        if running is frame:
            return True
        running = running.f_back
    return False
