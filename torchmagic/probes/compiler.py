"""This file is what torch's compiler is told of our code: to trace torch's own instead, and to compile nothing of ours.

What torch.compile meets on its way it traces or compiles: wrappers, listeners, even records. A graph that was one then
falls apart, and what was compiled in a run is compiled again after it.
"""

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar

from torch._C._dynamo import eval_frame

Function = TypeVar("Function", bound=Callable[..., Any])

_set_strategy: Any = getattr(eval_frame, "set_code_exec_strategy", None)
_skip_code: Any = getattr(eval_frame, "skip_code", None)  # what stood for it before torch 2.7
# Whether code of ours can be marked so that what it calls is not compiled either; else that is said while it runs.
MARKS_CALLS = _set_strategy is not None
# Code of wrappers, by its identity, and files of ours, of which the functions are marked.
_codes: dict[int, CodeType] = {}
_marked: set[str] = set()


def never_compiled(function: Function) -> Function:
    """Have a function of ours, and all that it calls, run as it is wherever it is called from."""
    code: CodeType = function.__code__
    if _set_strategy is not None:
        skip = eval_frame._FrameAction.SKIP
        _set_strategy(code, eval_frame._FrameExecStrategy(skip, skip))
    else:
        not_compiled(code)
    function._torchdynamo_disable = True  # type: ignore[attr-defined] # what is traced ends before it is called
    return function


def not_compiled(code: CodeType) -> None:
    """Have code of ours run as it is; what it calls is the user's or torch's, and may be compiled."""
    if _set_strategy is not None:
        action = eval_frame._FrameAction
        _set_strategy(code, eval_frame._FrameExecStrategy(action.SKIP, action.DEFAULT))
    elif _skip_code is not None:
        _skip_code(code)


class Interpreted:
    """Inside, nothing is compiled."""

    def __enter__(self) -> None:
        self._compiler = eval_frame.set_eval_frame(None)

    def __exit__(self, *_: object) -> None:
        eval_frame.set_eval_frame(self._compiler)


for _each in (Interpreted.__enter__, Interpreted.__exit__):
    not_compiled(_each.__code__)


def traced_as(wrapper: Any, original: Any) -> None:
    """Have the compiler trace a function of torch's in the place of our wrapper around it."""
    wrapper._torchdynamo_inline = original  # the compiler asks for it
    _mark(wrapper)


def not_traced(wrapper: Any) -> None:
    """Have what is traced end before a method of torch's that is wrapped.

    The compiler loses sight of the object where it cannot trace what stands for a method, and calls it without.
    """
    wrapper._torchdynamo_disable = True  # the compiler asks for it
    _mark(wrapper)


def _mark(wrapper: Any) -> None:
    """Leave alone a wrapper, and what wrappers call: the functions of ours that their file knows."""
    code, names = wrapper.__code__, wrapper.__globals__
    if id(code) in _codes:
        return
    _codes[id(code)] = code
    not_compiled(code)
    if names["__name__"] not in _marked:
        _marked.add(names["__name__"])
        for each in tuple(names.values()):
            if isinstance(each, FunctionType) and (each.__module__ or "").startswith("torchmagic."):
                not_compiled(each.__code__)
