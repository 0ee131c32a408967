"""This file watches the user's own hooks: a cell that registers them again each time it is run lets them pile up."""

from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType, MethodType
from typing import Any

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.notebook import RepeatedHookRecord
from torchmagic.session.recorder import Recorder

# Where torch keeps hooks, and the call that puts them there.
OF_MODULES = {
    "_forward_hooks": "register_forward_hook",
    "_forward_pre_hooks": "register_forward_pre_hook",
    "_backward_hooks": "register_full_backward_hook",
    "_backward_pre_hooks": "register_full_backward_pre_hook",
}
OF_PARAMETERS = {
    "_backward_hooks": "register_hook",
    "_post_accumulate_grad_hooks": "register_post_accumulate_grad_hook",
}
MOST_RECORDS = 8
_Key = tuple[str, str, str]  # where, how, which function


class Hooks:
    """Records ``RepeatedHookRecord`` once the run is over.

    Two hooks are the same when their code is, and what their closures hold where that is a number or a string: a hook
    made anew by each run of a cell is thus known again, and hooks that a loop makes for several names are not mixed up.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._at_start: dict[str, Counter[_Key]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models until all are known."""
        self._recorder, self._taps = recorder, taps
        taps.on("root_begin", self._called)

    def detach(self) -> None:
        """Tell what hangs where more than once."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        found = ((model, key, count) for model in self._cast.models for key, count in _repeated(model))
        for model, key, count in list(found)[:MOST_RECORDS]:
            at_start = self._at_start.get(model.name, Counter())[key]
            subject, kind, hook = key
            hook = hook.partition("\0")[0]
            recorder.add(RepeatedHookRecord(subject=subject, hook=hook, how=kind, count=count, at_start=at_start))

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        """Count what hangs on a model when it is called first; then rest until there is a new one."""
        for model in self._cast.models:
            if model.name not in self._at_start:
                self._at_start[model.name] = Counter(dict(_repeated(model)))
        self._taps.rest(self, until=1 << 62)


def _repeated(model: Model) -> list[tuple[_Key, int]]:
    """Return each hook that hangs more than once in the same place, and how often."""
    module = model.ref()
    if module is None:
        return []
    return [(key, count) for key, count in Counter(_hooks(model, module)).items() if count > 1]


def _hooks(model: Model, module: nn.Module) -> Iterator[_Key]:
    for part in modules_of(module):
        yield from _of(part, model.paths.get(id(part), model.name), OF_MODULES)
    for name, ref in model.parameters.items():
        if (parameter := ref()) is not None:
            yield from _of(parameter, name, OF_PARAMETERS)


def _of(owner: Any, subject: str, places: dict[str, str]) -> Iterator[_Key]:
    for attribute, kind in places.items():
        for hook in (getattr(owner, attribute, None) or {}).values():
            if (name := _identity(hook)) is not None:
                yield subject, kind, name


def _identity(hook: Callable[..., Any]) -> str | None:
    """Return what tells a user's hook from others: its name, code and plain values; None for what is no function."""
    function = hook.__func__ if isinstance(hook, MethodType) else hook
    if not isinstance(function, FunctionType) or str(function.__module__).partition(".")[0] in ("torch", "torchmagic"):
        return None
    code = function.__code__
    plain = [_plain(cell) for cell in function.__closure__ or ()]
    defaults = [value for value in function.__defaults__ or () if isinstance(value, int | float | str)]
    return f"{function.__qualname__}\0{hash((code.co_code, code.co_names, str(code.co_consts)))}{plain}{defaults}"


def _plain(cell: Any) -> str:
    try:
        value = cell.cell_contents
    except ValueError:  # not yet filled
        return ""
    return repr(value) if isinstance(value, int | float | str) else ""
