"""This file is the live functions: all that exist and are written in the user's own cells and files."""

import gc
import sys
from collections.abc import Container, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from torch import nn

from torchmagic.profiling.files_in_play import is_cell, is_local_file

# The garbage collector's generations of what was made a moment ago.
_YOUNG = (0, 1)


class Living(NamedTuple):
    """What exists: the user's functions, and whether something is there that torch.compile made of them."""

    functions: list[FunctionType]
    is_compiled: bool


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
    return Living(
        functions=[each for each in functions if each.__code__.co_filename in in_play],
        is_compiled=_has_compiled(functions, [each for each in found if type(each) in modules]),
    )


def _has_compiled(functions: Sequence[FunctionType], models: Sequence[nn.Module]) -> bool:
    """Whether a model, or one of the user's functions, is there as torch.compile wraps it."""
    dynamo: Any = sys.modules.get("torch._dynamo.eval_frame")
    if dynamo is None:
        return False
    # Of others no __dict__ is asked for: that would make one for each function that exists.
    wrappers = [each for each in functions if each.__code__.co_filename == dynamo.__file__]
    return any(_is_compiled_model(each, dynamo) for each in models) or any(map(_is_compiled_function, wrappers))


def _is_compiled_model(model: nn.Module, dynamo: Any) -> bool:
    return isinstance(model, dynamo.OptimizedModule) or model.__dict__.get("_compiled_call_impl") is not None


def _is_compiled_function(function: FunctionType) -> bool:
    """Whether a call of a function runs what torch.compile made of one of the user's."""
    names = function.__dict__
    inside = names.get("_torchdynamo_orig_callable")
    if inside is None or "_torchdynamo_disable" in names:
        return False
    code = getattr(inside, "__code__", None)
    return code is not None and (is_cell(code.co_filename) or is_local_file(code.co_filename))
