"""This file is the recipe for compiled code: torch.compile; TorchScript where that cannot serve; else the model."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.counting import counted
from torchmagic.session.ignored_warnings import ignored_warnings
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.setup import Setup
from torchmagic.tuning.streams import random_streams

_COMPILERS = "torch._dynamo", "torch._inductor", "torch._functorch"
_MOST_WORDS = 200


def _unfit(setup: Setup) -> str:
    if any(isinstance(each, torch.jit.ScriptModule) for each in setup.model.modules()):
        return "a part of the model is compiled by TorchScript already"
    return ""


def _apply(setup: Setup) -> Setup:
    return replace(setup, call=_Compiled(setup))


class _Compiled:
    """A model that is compiled at its first call, and falls back there if it cannot be."""

    def __init__(self, setup: Setup) -> None:
        self._model, self._plain, self._notes = setup.model, setup.call, setup.notes
        self._options: dict[str, Any] = setup.options.get("compile_options") or {}
        self._call: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs) if self._call is not None else self._first(args, kwargs)

    def _first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        streams, buffers = random_streams(), [(each, each.clone()) for each in self._model.buffers()]
        try:
            with _told_breaks(self._notes.remarks), ignored_warnings(DeprecationWarning):
                # The compiler uses parts of torch that torch itself is giving up.
                compiled = torch.compile(self._model, **self._options)
                result = compiled(*args, **kwargs)
        except Exception as error:
            if not _is_of_the_compiler(error):
                raise
            streams()
            for buffer, before in buffers:
                buffer.data.copy_(before)
            return self._other(error)(*args, **kwargs)
        self._call = compiled
        return result

    def _other(self, error: Exception) -> Callable[..., Any]:
        reason = f"torch.compile cannot serve ({_first_line(error)})"
        scripted = _scripted(self._model)
        if scripted is None:
            self._notes.refuse(OptimizationMode.COMPILATION, f"{reason}; the model runs as it is")
        else:
            self._notes.remarks.append(f"{reason}; TorchScript runs the model instead")
        self._call = scripted or self._plain
        return self._call


@contextlib.contextmanager
def _told_breaks(remarks: list[str]) -> Iterator[None]:
    """Note where the graph was broken, in which case Python runs between compiled pieces."""
    from torch._dynamo.utils import counters  # noqa: PLC0415 - loading the compiler takes a second

    before = dict(counters["graph_break"])
    yield
    new = {reason: count - before.get(reason, 0) for reason, count in counters["graph_break"].items()}
    num = sum(new.values())
    if num:
        reason = next(reason for reason, count in new.items() if count)
        remarks.append(f"{counted(num, 'graph break')}, such as: {_cut(reason)}")


def _scripted(model: nn.Module) -> Callable[..., Any] | None:
    try:
        with ignored_warnings():  # torch tells that TorchScript is being given up
            scripted: Callable[..., Any] = torch.jit.script(model)
    except Exception:  # noqa: BLE001 - it may refuse a model in any way
        return None
    return scripted


def _is_of_the_compiler(error: Exception) -> bool:
    # torch.compile itself raises a plain RuntimeError where Python or the platform is not supported.
    return str(type(error).__module__).startswith(_COMPILERS) or "torch.compile is not supported" in str(error)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return _cut(f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_WORDS else f"{text[: _MOST_WORDS - 1]}…"


COMPILATION = Recipe(
    mode=OptimizationMode.COMPILATION,
    changes="torch.compile turns forward and backward into fused kernels, at the first call; where it cannot serve, "
    "TorchScript runs the model, and where that cannot either, the model runs as it is.",
    applies="Models that are called often with inputs of few shapes; the first call takes seconds to minutes.",
    exactness="Sums run in another order: the last bits differ. Dropout draws other random numbers of the same kind.",
    unfit=_unfit,
    apply=_apply,
    options=("compile_options",),
)
