"""This file reads what the user wrote at a call: the expression that a frame is evaluating, without touching its names.

Reading a function's local variables through its frame would keep them alive, and would change what ``locals()``
returned to the user; the source says the same.
"""

import ast
import itertools
import linecache
from types import FrameType

from torchmagic.analyses.syntax import parsed_expression


def callee(frame: FrameType) -> str | None:
    """Return what is being called, such as ``model`` or ``encoder.layers[0]``; None where the source does not say."""
    call = _call_at(frame)
    return _named(call.func) if call is not None else None


def receiver(frame: FrameType, method: str = "") -> str | None:
    """Return on what a method is being called: ``opt`` in ``opt.step()``; None for another one than was asked for."""
    call = _call_at(frame)
    if call is None or not isinstance(call.func, ast.Attribute) or method not in ("", call.func.attr):
        return None
    return _named(call.func.value)


def first_argument(frame: FrameType) -> str | None:
    """Return what a call is given first: ``opt`` in ``scaler.step(opt)``."""
    call = _call_at(frame)
    return _named(call.args[0]) if call is not None and call.args else None


def arguments(frame: FrameType) -> tuple[str, ...]:
    """Return what a call is given by position; empty text for what is no plain name."""
    call = _call_at(frame)
    return tuple(_named(each) or "" for each in call.args) if call is not None else ()


def _call_at(frame: FrameType) -> ast.Call | None:
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is None:
        return None
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return None
    lines = [linecache.getline(frame.f_code.co_filename, line).encode() for line in range(first, last + 1)]
    if not lines:
        return None
    lines[-1] = lines[-1][:end]  # before the first, which may be the same line
    lines[0] = lines[0][start:]
    try:
        node = parsed_expression(b"(" + b"".join(lines) + b")")
    except (SyntaxError, ValueError):
        return None
    return node if isinstance(node, ast.Call) else None


def _named(node: ast.expr) -> str | None:
    """Return a plain name, attribute or item as it is written, without a leading ``self.``."""
    part = node
    while isinstance(part, (ast.Attribute, ast.Subscript)):
        if isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Constant):
            return None
        part = part.value
    return ast.unparse(node).removeprefix("self.") if isinstance(part, ast.Name) else None
