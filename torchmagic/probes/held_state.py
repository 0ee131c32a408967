"""This file is the held state: what modules, their attributes and the globals of their code hold, to be put back."""

import functools
import operator
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.generators import is_generator, setter
from torchmagic.probes.origin_purity import LIBRARIES, closed_over
from torchmagic.tensors.genuine import attributes_of, is_tensor

LISTS, MAPPINGS, SETS = (list, deque), (dict, OrderedDict, defaultdict, Counter), (set,)
CONTAINERS = frozenset((*LISTS, *MAPPINGS, *SETS))
# What torch keeps in a module: parameters stay what they are, parts and buffers are visited by themselves.
OF_TORCH = frozenset(vars(nn.Module()))
# How deep containers and objects are followed, and of how many items one is looked into.
DEEPEST, MOST_ITEMS, MOST_VISITS = 4, 1 << 10, 1 << 14
# A larger tensor that is no buffer is not copied.
MOST_BYTES = 1 << 26
_FOREIGN = frozenset((*LIBRARIES, *sys.stdlib_module_names)) - {"__main__"}


class HeldState:
    """Remembers contents and random generators, and lets copies of tensors stand in for those held until put back.

    Followed are lists, deques, dicts and sets, tuples of them, and the attributes of the user's own objects, from the
    attributes of modules and the globals and closures of their methods. Of globals no tensors are copied.

    Args:
        modules: What is put back.
        copied: Told each tensor that stands in for one, and that one.
    """

    def __init__(self, modules: Iterable[nn.Module], copied: Callable[[torch.Tensor, torch.Tensor], None]) -> None:
        self._copied, self._seen = copied, set[int]()
        self._copies: dict[int, torch.Tensor] = {}
        self._undoing: list[Callable[[], None]] = []
        kinds: dict[type, None] = {}
        for module in modules:
            self._visit_module(module)
            kinds.update(dict.fromkeys(type(module).__mro__))
        for value in _used_by(kinds):
            self._visit(value, 1, copies=False)

    def put_back(self) -> None:
        """Give everything the contents that it had."""
        while self._undoing:
            self._undoing.pop()()

    def _visit_module(self, module: nn.Module) -> None:
        values, buffers = vars(module), module._buffers
        before, tensors = dict(values), dict(buffers.items())
        self._undoing.append(lambda: _put_mapping(values, before))
        if isinstance(module, torch.jit.ScriptModule):  # compiled code holds its buffers: these get their numbers back
            kept = [(each.data, each.detach().clone()) for each in tensors.values() if each is not None]
            self._undoing.append(lambda: _put_numbers(kept))
            return
        self._undoing.append(lambda: _put_mapping(buffers, tensors))
        buffers.update({name: each if each is None else self._copy(each, whole=True) for name, each in tensors.items()})
        self._fill(values, {name: each for name, each in before.items() if name not in OF_TORCH}, 0, copies=True)

    def _fill(self, holder: Any, items: dict[Any, Any], depth: int, *, copies: bool) -> None:
        """Visit the items of a list or mapping, and put copies in the place of tensors."""
        for key, value in items.items():
            if copies and is_tensor(value):
                holder[key] = self._copy(value)
            else:
                self._visit(value, depth + 1, copies=copies)

    def _copy(self, value: torch.Tensor, *, whole: bool = False) -> torch.Tensor:
        """Return what stands in for a tensor: a copy, or itself where it is trained, or large and no buffer."""
        known = self._copies.get(id(value))
        if known is not None:
            return known
        kept = value.requires_grad or type(value) is not torch.Tensor or value.is_meta
        if not whole and (kept or value.numel() * value.element_size() > MOST_BYTES):
            return value
        copy = self._copies[id(value)] = value.detach().clone()
        self._copied(copy, value)
        return copy

    def _visit(self, value: Any, depth: int, *, copies: bool) -> None:
        kind = type(value)
        if depth > DEEPEST or id(value) in self._seen or len(self._seen) > MOST_VISITS:
            return
        if is_generator(value):
            self._seen.add(id(value))
            self._undoing.append(setter(value))
        elif kind in CONTAINERS:
            self._seen.add(id(value))
            self._visit_container(value, kind, depth, copies=copies)
        elif kind is tuple:
            for each in value[:MOST_ITEMS]:
                self._visit(each, depth + 1, copies=copies)
        elif _is_users(kind) and (held := attributes_of(value)):
            self._seen.add(id(value))
            before = dict(held)
            self._undoing.append(lambda: _put_mapping(held, before))
            self._fill(held, before, depth, copies=copies)

    def _visit_container(self, value: Any, kind: type, depth: int, *, copies: bool) -> None:
        if kind in MAPPINGS:
            mapping = dict(value)
            self._undoing.append(lambda: _put_mapping(value, mapping))
            items = mapping
        elif kind in LISTS:
            before = list(value)
            self._undoing.append(lambda: _put_list(value, before))
            items = dict(enumerate(before))
        else:
            contents = set(value)
            self._undoing.append(lambda: _put_set(value, contents))
            return
        if len(items) <= MOST_ITEMS:
            self._fill(value, items, depth, copies=copies)


def _is_users(kind: type) -> bool:
    """Whether a class is the user's own, or of a library that nothing is known of; a module is visited by itself."""
    if issubclass(kind, (type, FunctionType, nn.Module, torch.Tensor)):
        return False
    return kind.__module__.partition(".")[0] not in _FOREIGN


def _used_by(kinds: Iterable[type]) -> Iterator[Any]:
    """Yield what the methods of the user's classes, and functions that these call, name from outside."""
    todo = [
        (each, 0)
        for kind in kinds
        if kind.__module__.partition(".")[0] not in _FOREIGN
        for each in map(_written, vars(kind).values())
        if isinstance(each, FunctionType)
    ]
    done: set[int] = set()
    while todo:
        function, depth = todo.pop()
        if id(function) in done:
            continue
        done.add(id(function))
        outside = closed_over(function)
        outside |= {
            name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__
        }
        for value in outside.values():
            if not isinstance(value, FunctionType):
                yield value
            elif depth < DEEPEST and str(value.__module__).partition(".")[0] not in _FOREIGN:
                todo.append((value, depth + 1))


def _written(member: Any) -> Any:
    """Return the function behind a property, a class method or a static method; anything else as it is."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    return member.__func__ if isinstance(member, (classmethod, staticmethod)) else member


def _put_mapping(value: Any, before: dict[Any, Any]) -> None:
    """Give a mapping its items again, without changing its size where somebody may be going through it."""
    if len(value) == len(before) and all(map(operator.is_, value, before)):
        for key, each in before.items():
            if value[key] is not each:
                value[key] = each
    else:
        value.clear()
        value.update(before)


def _put_numbers(kept: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    for tensor, numbers in kept:
        tensor.copy_(numbers)


def _put_list(value: Any, before: list[Any]) -> None:
    if len(value) == len(before):
        for i, each in enumerate(before):
            if value[i] is not each:
                value[i] = each
    else:
        value.clear()
        value.extend(before)


def _put_set(value: set[Any], before: set[Any]) -> None:
    if len(value) != len(before) or value != before:
        value.clear()
        value.update(before)
