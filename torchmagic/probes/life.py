"""This file is the life of a model: from the weights it began with to the last step before it got others."""

import weakref
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from torchmagic.probes.construction_lines import builder_of, places_of
from torchmagic.probes.module_parts import modules_of, parameters_of
from torchmagic.probes.sites import Site
from torchmagic.records.loop import RestartRecord

# Modules and parameters that tell one make of a model from another.
MOST_PARTS = 64


class Life:
    """What a model went through since it was built, or given new weights.

    Attributes:
        passes: At most so many passes over its data: for a loader those in which it was trained, else how often the
            same batch came again.
        is_long: Whether it has seen its data more than once, or is followed no further.
        is_lost: Whether it is followed no further, so that its passes are not known.
        renewed: Parameters, by identity, that were given new values since its last step.
    """

    def __init__(self, module: nn.Module, name: str, how: str, lines: tuple[Site, ...]) -> None:
        self.ref = weakref.ref(module)
        self.name, self.class_name = name, type(module).__name__
        self.how, self.lines = how, lines
        self.make: tuple[Any, ...] = ()
        self.parameters: dict[int, int] = {}
        self.settings: set[str] = set()
        self.weights = ""
        self.seed = 0
        self.first = self.last = -1
        self.steps = 0
        self.is_long = self.is_lost = False
        self.renewed: set[int] = set()
        self.how_next, self.lines_next, self.weights_next = "", lines, ""
        self._data: set[tuple[int, int]] = set()
        self._seen: Counter[Any] = Counter()
        self._last_pass = 0

    @property
    def key(self) -> tuple[Any, ...]:
        """What lives that one line began have in common."""
        return self.how, self.class_name, self.lines

    @property
    def passes(self) -> int:
        """Passes over its data, as far as is known; 0 where that is not known."""
        return 0 if self.is_lost else max(self._seen.values(), default=0)

    @property
    def likeness(self) -> tuple[Any, ...]:
        """What is the same in two lives that differ in nothing but their data."""
        return self.make, frozenset(self.settings), self.weights

    @property
    def data(self) -> frozenset[tuple[int, int]]:
        """What it was trained on: numbers of datasets, or of tensors, and batch sizes."""
        return frozenset(self._data)

    def step(self, step: int, data: tuple[int, int, int], given: tuple[int, int] | None) -> None:
        """Take in a step.

        Args:
            step: Its number.
            data: The newest pass of a loader: its number (0 where there was none), its dataset's, and the batch size.
            given: Without a loader: the number of the tensor that holds the input, and which part of it.
        """
        self.first = step if self.first < 0 else self.first
        self.last = step
        self.steps += 1
        number, dataset, batch_size = data
        if number:
            self._data.add((dataset, batch_size))
            self._seen[dataset] += number != self._last_pass
            self._last_pass = number
        elif given is not None:
            self._data.add((given[0], 0))
            if len(self._seen) < MOST_PARTS or given in self._seen:
                self._seen[given] += 1
        self.is_long = self.is_long or self.passes > 1


def make_of(module: nn.Module) -> tuple[Any, ...]:
    """Return what a model is made of: kinds of modules with their settings, and shapes of parameters."""
    parts = tuple((type(part).__name__, _settings(part)) for part in list(modules_of(module))[:MOST_PARTS])
    parameters = list(parameters_of(module))[:MOST_PARTS]
    return parts, tuple(() if nn.parameter.is_lazy(each) else tuple(each.shape) for each in parameters)


def _settings(part: nn.Module) -> str:
    """Return how a module shows its settings, where that is written by torch: the user's own may raise, or be dear."""
    return part.extra_repr() if str(type(part).extra_repr.__module__).startswith("torch.") else ""


def settings_of(optimizer: torch.optim.Optimizer) -> str:
    """Return the settings of an optimizer as text, as they are at its first step."""
    groups = [{key: each for key, each in group.items() if key != "params"} for group in optimizer.param_groups]
    return f"{type(optimizer).__name__} {groups!r}"


def restart(lives: Sequence[Life], *, least: int) -> RestartRecord:
    """Return what is told of lives that one line began; so many on the same data are alike."""
    first, last = lives[0], lives[-1]
    alive = {id(module) for life in lives if (module := life.ref()) is not None}
    pairs = pairwise(lives)
    return RestartRecord(
        model=first.name,
        class_name=first.class_name,
        how=last.how,
        lives=len(lives),
        alive=len(alive),
        most_passes=max(life.passes for life in lives),
        least_steps=min(life.steps for life in lives),
        same=len({life.likeness for life in lives}) == 1
        and min(Counter(life.data for life in lives).values()) >= least,
        reseeded=len({life.seed for life in lives}) > 1,
        overlapping=any(one.last > other.first for one, other in pairs),
        places=places_of(last.lines),
        builder=builder_of(places_of(last.lines)),
    )
