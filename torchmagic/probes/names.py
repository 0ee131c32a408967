"""This file is the names: what the user calls a model, an optimizer or a loader."""

from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, FunctionType
from typing import Any

from torch import nn

from torchmagic.probes.sites import is_users

# How many callers up a local variable is looked for: a loop in a function of a trainer is two or three deep.
MAX_FRAMES = 6


class Names:
    """Finds the variable that holds an object.

    Args:
        namespace: The user's names at top level.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def of(self, thing: object, frame: FrameType | None, default: str) -> str:
        """Return the name of the variable or attribute that holds ``thing``; ``default`` when none does."""
        for name, value in self._candidates(frame):
            if value is thing:
                return name
        return default

    def model_of(self, module: nn.Module, frame: FrameType | None) -> tuple[nn.Module, str]:
        """Return the largest named module that holds ``module``, and its name.

        A part of a model that is called by itself, such as an encoder, thus belongs to its model.
        """
        best, best_name = module, ""
        best_size = _size(module)
        for name, value in self._candidates(frame):
            if not isinstance(value, nn.Module):
                continue
            if value is best and not best_name:
                best_name = name
            elif value is not best and _size(value) > best_size and any(each is module for each in value.modules()):
                best, best_name, best_size = value, name, _size(value)
        return best, best_name or type(best).__name__

    def optimizers(self, kind: type) -> Iterator[tuple[str, Any]]:
        """Yield named objects of a type at top level or one attribute below."""
        for name, value in self._candidates(None):
            if isinstance(value, kind):
                yield name, value

    def functions(self) -> Iterator[tuple[str, FunctionType]]:
        """Yield the user's own functions and the ``forward`` of the user's own modules."""
        for name, value in _public(self._namespace.items()):
            if isinstance(value, FunctionType) and value.__globals__ is self._namespace:
                yield name, value
            elif isinstance(value, type) and isinstance(vars(value).get("forward"), FunctionType):
                yield f"{name}.forward", value.forward  # type: ignore[attr-defined] # looked up one line above

    def _candidates(self, frame: FrameType | None) -> Iterator[tuple[str, Any]]:
        yield from _spread(_public(self._namespace.items()))
        for _ in range(MAX_FRAMES):
            if frame is None or (frame.f_globals is self._namespace and frame.f_code.co_name == "<module>"):
                return
            if is_users(frame):
                yield from _spread(_public(list(frame.f_locals.items())))
            frame = frame.f_back


def _public(items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in items if not name.startswith("_")]


def _spread(items: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield names, then the attributes of plain objects among them, as ``trainer.model`` (``self.`` is left out)."""
    yield from items
    for name, value in items:
        if isinstance(value, (nn.Module, type)) or type(value).__module__ in ("builtins", "torch", "numpy"):
            if isinstance(value, dict):
                yield from ((f"{name}[{key!r}]", each) for key, each in list(value.items())[:64])
            elif isinstance(value, (list, tuple)):
                yield from ((f"{name}[{i}]", each) for i, each in enumerate(value[:64]))
            continue
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            prefix = "" if name == "self" else f"{name}."
            yield from ((prefix + key, each) for key, each in list(attributes.items()) if not key.startswith("_"))


def _size(module: nn.Module) -> int:
    return sum(1 for _ in module.modules())
