"""This file is the members of a run: what is known of a model and of an optimizer that take part."""

import weakref
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import torch
from torch import nn

from torchmagic.probes.module_parts import modules_of, named_modules_of, named_parameters_of, uncompiled


class _Nobody:
    """Is referred to by what refers to nothing."""


nobody: weakref.ref[Any] = weakref.ref(_Nobody())


class _Member:
    """Is there until it and all its parameters are gone, and then never again."""

    ref: weakref.ref[Any]
    gone = False

    def is_gone(self) -> bool:
        """Whether nothing of it is left."""
        if not self.gone and self.ref() is None:
            self.gone = all(ref() is None for ref in self._owned())
        return self.gone

    def _owned(self) -> Iterable[weakref.ref[Any]]:
        raise NotImplementedError


M = TypeVar("M", bound=_Member)


def present(members: Iterable[M]) -> list[M]:
    """Return those of which something is left: a search, or a loop over copies of a model, leaves thousands behind."""
    return [each for each in members if not (each.gone or each.is_gone())]


class Model(_Member):
    """A model that took part: its name, its modules' paths and its parameters' names."""

    def __init__(self, module: nn.Module, name: str) -> None:
        self.ref = weakref.ref(module)
        self.name = name
        self.class_name = type(module).__name__
        self.paths: dict[int, str] = {}
        self._parts: dict[int, weakref.ref[nn.Module]] = {}
        self.parameters: dict[str, weakref.ref[nn.Parameter]] = {}
        self._told: dict[str, weakref.ref[nn.Parameter]] = {}
        self.lends = False  # other tensors stood in the place of its parameters, as in ``torch.func.functional_call``

    def read(self) -> list[str]:
        """Look at the modules and parameters again; return the names of parameters that are new and have a shape."""
        module = self.ref()
        if module is None:
            return []
        module = uncompiled(module)  # known by its own names
        parts = dict(named_modules_of(module))
        self.paths = {id(part): _join(self.name, path) for path, part in parts.items()}
        self._parts = {id(part): weakref.ref(part) for part in parts.values()}
        held = dict(named_parameters_of(module))
        own = {name: value for name, value in held.items() if isinstance(value, nn.Parameter)}
        self.lends = len(own) < len(held)
        self.parameters = {_join(self.name, name): weakref.ref(value) for name, value in own.items()}
        new = []
        for name, ref in self.parameters.items():
            value, told = ref(), self._told.get(name)
            if value is not None and not is_lazy(value) and (told is None or told() is not value):
                self._told[name] = ref
                new.append(name)
        return new

    def _owned(self) -> Iterable[weakref.ref[Any]]:
        return self.parameters.values()

    def path_of(self, module: nn.Module) -> str | None:
        """Return the path of one of its modules, or None; identities are given again once a module is gone."""
        ref = self._parts.get(id(module))
        return self.paths[id(module)] if ref is not None and ref() is module else None

    def parts(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield all of its modules, each with its path; none once it is gone."""
        root = self.ref()
        for part in modules_of(root) if root is not None else ():
            yield self.paths.get(id(part), ""), part

    def part(self) -> None:
        """Take it for gone."""
        self.ref = nobody
        self._parts.clear()
        self.parameters = dict.fromkeys(self.parameters, nobody)


class ByHand:
    """Stands for an optimizer where a loop changes weights by itself.

    Attributes:
        slopes: Gradients that lie in no ``.grad``, by the identity of their leaf; only while they are told of.
    """

    def __init__(self) -> None:
        self.refs: list[weakref.ref[torch.Tensor]] = []
        self.slopes: dict[int, torch.Tensor] = {}

    @property
    def leaves(self) -> list[torch.Tensor]:
        """What losses were traced back to, as far as it is still there."""
        return [leaf for ref in self.refs if (leaf := ref()) is not None]

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """One group, as an optimizer has it."""
        return [{"params": self.leaves}]


class Optimizer(_Member):
    """An optimizer that stepped: its name, its parameters and what they are called."""

    def __init__(self, optimizer: Any, name: str) -> None:
        self.ref: weakref.ref[torch.optim.Optimizer] = weakref.ref(optimizer)
        self.name = name
        self.class_name = type(optimizer).__name__
        self.steps = 0
        self.last_step, self.is_out = -1, True
        self.seen = (-1, -1)
        self.names: tuple[str, ...] = ()
        self.refs: list[weakref.ref[torch.Tensor]] = []
        self.packs = False

    @property
    def is_new(self) -> bool:
        """Whether its parameters were never read."""
        return not self.refs

    def _owned(self) -> Iterable[weakref.ref[Any]]:
        return self.refs

    def part(self) -> None:
        """Take it for gone."""
        self.ref = nobody
        self.refs = [nobody for _ in self.refs]


def is_lazy(tensor: torch.Tensor) -> bool:
    """Whether a tensor has no shape yet."""
    return isinstance(tensor, (nn.UninitializedParameter, nn.UninitializedBuffer))


def _join(prefix: str, path: str) -> str:
    return f"{prefix}.{path}" if path else prefix


def is_trained(parameter: torch.Tensor) -> bool:
    """Whether a parameter asks for gradients; one that a function has put a tensor in the place of is likely to."""
    return parameter.requires_grad or not isinstance(parameter, nn.Parameter)


def gradient_in(optimizer: torch.optim.Optimizer | ByHand, leaf: torch.Tensor) -> torch.Tensor | None:
    """Return the gradient with which a tensor is stepped: that in ``.grad``, or the one that a loop holds by itself."""
    return optimizer.slopes.get(id(leaf), leaf.grad) if isinstance(optimizer, ByHand) else leaf.grad
