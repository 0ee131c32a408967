"""This file is the spot: the call in the source that an instruction makes, and where what it was given comes from."""

import ast
import dataclasses
import inspect
from types import CodeType, FrameType
from typing import Any

from torchmagic.probes.origin_names import names_of
from torchmagic.probes.origin_purity import function_of, tree_of, value_of
from torchmagic.probes.sites import user_frame


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """A call in the user's code: its frame, the tree of its source, its node, and the names that it sees."""

    frame: FrameType
    tree: ast.Module
    call: ast.Call
    names: dict[str, Any]

    @property
    def given(self) -> tuple[str, ...]:
        """Names of what the function around the call is given; none at top level."""
        code = self.frame.f_code
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def spot_at(frame: FrameType, lasti: int) -> Spot | None:
    """Return the call that an instruction makes; None where the source is not known, or names cannot be read."""
    tree = tree_of(frame.f_code.co_filename)
    call = _call_at(tree, frame.f_code, lasti) if tree is not None else None
    names = names_of(frame) if call is not None else None
    return Spot(frame, tree, call, names) if tree is not None and call is not None and names is not None else None


def caller_of(spot: Spot) -> tuple[Spot, dict[str, ast.expr]] | None:
    """Return the call of the function that a spot lies in, and the expressions that were given for its arguments.

    A decorator's function that passes on all that it is given is looked through. None where the function is called by
    what is not the user's, or otherwise than by its name.
    """
    return _call_of(spot, spot.given)


def _call_of(spot: Spot, given: tuple[str, ...]) -> tuple[Spot, dict[str, ast.expr]] | None:
    frame = user_frame(spot.frame.f_back)
    caller = spot_at(frame, frame.f_lasti) if frame is not None else None
    function = function_of(value_of(caller.call.func, caller.names)) if caller is not None else None
    if caller is None or function is None or function.__code__ is not spot.frame.f_code:
        return None
    if any(isinstance(each, ast.Starred) for each in caller.call.args):
        return _call_of(caller, given) if _passes_all_on(caller) else None
    bound = isinstance(caller.call.func, ast.Attribute) and given[:1] == ("self",)
    handed = dict(zip(given[bound:], caller.call.args, strict=False))
    return caller, handed | {each.arg: each.value for each in caller.call.keywords if each.arg is not None}


def _passes_all_on(spot: Spot) -> bool:
    """Whether a call hands over just what the function around it was given: ``f(*args, **kwargs)``."""
    code = spot.frame.f_code
    if not code.co_flags & inspect.CO_VARARGS:
        return False
    passed = [*code.co_varnames[: code.co_argcount], f"*{code.co_varnames[len(spot.given)]}"]
    return [ast.unparse(each) for each in spot.call.args] == passed and all(
        each.arg is None for each in spot.call.keywords
    )


def _call_at(tree: ast.Module, code: CodeType, lasti: int) -> ast.Call | None:
    """Return the call that an instruction makes: no two calls end at the same place."""
    end = end_of(code, lasti)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (node.end_lineno, node.end_col_offset) == end:
            return node
    return None


def end_of(code: CodeType, lasti: int) -> tuple[int | None, int | None]:
    """Return line and column at which the expression of an instruction ends."""
    _, line, _, column = list(code.co_positions())[lasti // 2]
    return line, column
