"""This file is the live functions: all that exist and are written in the user's own cells and files."""

import gc
import sys
from collections.abc import Container, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from torch import nn

from torchmagic.probes.notebook_text import is_cell
from torchmagic.profiling.files_in_play import is_local_file

# The garbage collector's generations of what was made a moment ago.
_YOUNG = (0, 1)


class Living(NamedTuple):
    """What exists: the user's functions, and whether something is there that torch.compile made, and of which."""

    functions: list[FunctionType]
    is_compiled: bool
    compiled: set[str]


def living(files: Container[str]) -> Living:
    """Look through all that exists; some 200 ms a million objects.

    Args:
        files: Files whose functions are wanted, beside cells.
    """
    return _among(gc.get_objects(), files)


def young(files: Container[str]) -> Living:
    """Look through what was made a moment ago, for the same; costs next to nothing."""
    return _among([each for generation in _YOUNG for each in gc.get_objects(generation=generation)], files)


def _among(objects: Sequence[Any], files: Container[str]) -> Living:
    # Only types are compared at first: what an object says of itself, such as its __class__, may be code of its own.
    kinds = set(map(type, objects))
    modules = {kind for kind in kinds if issubclass(kind, nn.Module)}
    wanted = {FunctionType, *modules}
    found = [each for each in objects if type(each) in wanted]
    functions = [each for each in found if type(each) is FunctionType]
    in_play = {file for file in {each.__code__.co_filename for each in functions} if file in files or is_cell(file)}
    compiled = _compiled(functions)
    models = [each for each in found if type(each) in modules]
    return Living(
        functions=[each for each in functions if each.__code__.co_filename in in_play],
        is_compiled=bool(compiled) or any(map(_is_compiled_model, models)),
        compiled=compiled,
    )


def _compiled(functions: Sequence[FunctionType]) -> set[str]:
    """Return the names of the user's functions of which one is there as torch.compile wraps it."""
    dynamo: Any = sys.modules.get("torch._dynamo.eval_frame")
    if dynamo is None:
        return set()
    # Of others no __dict__ is asked for: that would make one for each function that exists.
    wrappers = [each for each in functions if each.__code__.co_filename == dynamo.__file__]
    return {name for name in map(_compiled_function, wrappers) if name}


def _is_compiled_model(model: nn.Module) -> bool:
    dynamo: Any = sys.modules.get("torch._dynamo.eval_frame")
    wrapped = dynamo is not None and isinstance(model, dynamo.OptimizedModule)
    return wrapped or model.__dict__.get("_compiled_call_impl") is not None


def _compiled_function(function: FunctionType) -> str:
    """Return the name of the user's function of which a call runs what torch.compile made; empty for none."""
    names = function.__dict__
    inside = names.get("_torchdynamo_orig_callable")
    if inside is None or "_torchdynamo_disable" in names:
        return ""
    code = getattr(inside, "__code__", None)
    users = code is not None and (is_cell(code.co_filename) or is_local_file(code.co_filename))
    return str(code.co_name) if code is not None and users else ""
