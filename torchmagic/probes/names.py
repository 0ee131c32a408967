"""This file is the names: what the user calls a model, an optimizer or a loader."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.probes.expressions import callee, first_argument, receiver
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.sites import is_users, is_users_file
from torchmagic.probes.variables import held_in
from torchmagic.tensors.genuine import attributes_of, is_genuine, is_optimizer, is_tensor

# Items of a list or dict of models that are looked at.
MOST_ITEMS = 64
# Keys that can be written as they are shown; of others who knows what their class does when it is shown.
_PLAIN_KEYS = (str, int, float, bool, tuple, bytes)


class Names:
    """Finds the variable that holds an object: among the user's top-level names, else as the calling line spells it.

    Args:
        namespace: The user's names at top level.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    @property
    def namespace(self) -> Mapping[str, Any]:
        """The user's names at top level."""
        return self._namespace

    def of_optimizer(
        self, optimizer: torch.optim.Optimizer, frame: FrameType | None, *, taken: AbstractSet[str] = frozenset()
    ) -> str:
        """Return the name of an optimizer that steps; its class where it has none.

        Args:
            optimizer: The optimizer.
            frame: Where it steps; None where that is not known.
            taken: Names of others beside it: a loop calls each of a list by one name.
        """
        first = ""
        for name, value in self._candidates():
            if within(value) is optimizer:
                first = first or name
                if name not in taken:
                    return name
        user, scaled = _user_frame(frame)
        spelled = None if user is None or first else first_argument(user) if scaled else receiver(user, "step")
        return first or spelled or unused(type(optimizer).__name__, taken)

    def of_model(self, module: nn.Module, frame: FrameType | None) -> tuple[nn.Module, str]:
        """Return the largest named module that holds ``module``, and its name.

        A part of a model that is called by itself, such as an encoder, thus belongs to its model.
        """
        best, best_name, best_size = module, "", _size(module)
        for name, value in self._candidates():
            if not isinstance(value, nn.Module):
                continue
            if value is best and not best_name:
                best_name = name
            elif value is not best and _size(value) > best_size and any(each is module for each in modules_of(value)):
                best, best_name, best_size = value, name, _size(value)
        if not best_name:
            own = frame is not None and is_users(frame)  # what a library calls is not what the user's line calls
            spelled = callee(frame) if own and frame is not None else None
            best_name = spelled if spelled and spelled != "self" else type(best).__name__
        return best, best_name

    def of_loader(self, sampler: object, dataset: object = None) -> str:
        """Return the name of the loader that draws its batches by this sampler; ``DataLoader`` where it has none.

        Args:
            sampler: The loader's own.
            dataset: After which a loader that a library has made is named.
        """
        for name, value in self._candidates():
            if isinstance(value, DataLoader) and value._index_sampler is sampler:
                return name
        named = (name for name, value in self._candidates() if dataset is not None and value is dataset)
        return next(named, "DataLoader")

    def of_kind(self, kind: type) -> Iterator[tuple[str, Any]]:
        """Yield named objects of a type at top level or one attribute below."""
        for name, value in self._candidates():
            if isinstance(value, kind):
                yield name, value

    def of_tensors(self, tensors: Sequence[torch.Tensor]) -> dict[int, str]:
        """Return the names of those tensors that have one, by identity."""
        wanted, found = {id(tensor) for tensor in tensors}, dict[int, str]()
        for name, value in self._candidates() if wanted else ():
            if id(value) in wanted:
                found.setdefault(id(value), name)
        return found

    def tensors_of(self, names: Sequence[str]) -> list[torch.Tensor]:
        """Return the tensors that variables of these names hold now, of as many as do."""
        wanted = set(names)
        held = {name: each for name, each in self._candidates() if name in wanted and is_tensor(each)}
        return [held[name] for name in names if name in held]

    def with_loose(self, known: dict[int, str], tensors: Sequence[torch.Tensor]) -> dict[int, str]:
        """Add, for tensors without a name, that of the variable or attribute; a place in a list is none."""
        loose = self.of_tensors([tensor for tensor in tensors if id(tensor) not in known])
        return known | {identity: name for identity, name in loose.items() if "[" not in name}

    def functions(self) -> Iterator[tuple[str, FunctionType]]:
        """Yield the user's own functions and the ``forward`` of the user's own modules."""
        for name, value in _public(self._namespace.items()):
            if isinstance(value, FunctionType) and value.__globals__ is self._namespace:
                yield name, value
            elif isinstance(value, type) and isinstance(vars(value).get("forward"), FunctionType):
                yield f"{name}.forward", value.forward  # type: ignore[attr-defined] # looked up one line above

    def _candidates(self) -> Iterator[tuple[str, Any]]:
        """Yield the user's names, then the attributes and items of plain objects, as ``trainer.model``."""
        items = _public(self._namespace.items())
        yield from items
        for name, value in items:
            yield from ((path, each) for path, each in _within(name, value) if is_genuine(each))


def _within(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, by its own type's methods and not by those of a user's class."""
    if isinstance(value, dict):
        plain = [(key, each) for key, each in list(dict.items(value))[:MOST_ITEMS] if _is_plain(key)]
        yield from ((f"{name}[{key!r}]", each) for key, each in plain)
    elif isinstance(value, (list, tuple)):
        yield from ((f"{name}[{i}]", each) for i, each in enumerate(held_in(value, slice(MOST_ITEMS))))
    elif not isinstance(value, (nn.Module, type)) and not _is_librarys(value):
        yield from ((f"{name}.{key}", each) for key, each in _public(attributes_of(value).items()))


def _is_plain(key: Any) -> bool:
    return type(key) in _PLAIN_KEYS or issubclass(type(key), Enum)


def _user_frame(frame: FrameType | None) -> tuple[FrameType | None, bool]:
    """Return the nearest frame of the user's code, and whether a gradient scaler stands between."""
    scaled = False
    while frame is not None and not is_users(frame):
        scaled = scaled or frame.f_code.co_filename.endswith("grad_scaler.py")
        frame = frame.f_back
    return frame, scaled


def within(value: Any) -> Any:
    """Return the optimizer in one that was put around it, as accelerate's are; anything else as it is."""
    inner = attributes_of(value).get("optimizer") if isinstance(value, torch.optim.Optimizer) else None
    return inner if is_optimizer(inner) else value


def _is_librarys(value: Any) -> bool:
    """Whether a value is a module of a library, which holds hundreds of names and nothing of the user's."""
    if not isinstance(value, ModuleType):
        return False
    attributes = attributes_of(value)
    file = attributes.get("__file__")
    return not is_users_file(file) if isinstance(file, str) else attributes.get("__spec__") is not None


def _public(items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    named = [(name, value) for name, value in list(items) if isinstance(name, str) and not name.startswith("_")]
    return [(name, value) for name, value in named if is_genuine(value)]


def _size(module: nn.Module) -> int:
    return sum(1 for _ in modules_of(module))


def unused(name: str, taken: AbstractSet[str]) -> str:
    """Return a name, with a number where it is taken."""
    if name not in taken:
        return name
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"
