"""This file is the evaluation pass: forwards of one model in one mode that no backward followed, and their losses."""

import weakref
from collections import deque
from collections.abc import Container, Iterator
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.probes.loaders import Loader
from torchmagic.probes.members import Model
from torchmagic.probes.modes import awake_parts, is_alone
from torchmagic.probes.sites import Site, sites_above
from torchmagic.probes.storages import tensors_in
from torchmagic.tensors.genuine import is_tensor
from torchmagic.tensors.presence import plain
from torchmagic.tensors.reduce import fetch

# Dropout and batch norm modules named.
MOST_NAMES = 8
# Losses of a pass that are kept apart: one a criterion and line.
MOST_LOSSES = 8
# Values that may be taken out of a sum again, and nodes above what is differentiated among which theirs are looked for.
MOST_VALUES, MOST_NODES = 64, 64
# Lines that led to a forward, and methods of objects around a model.
MOST_LINES = 6
PASSING_ON = ("__call__", "forward")
# Bytes of a number: sums of fewer overflow, or stand still.
SINGLE = 4


class Key(NamedTuple):
    """What forwards of one pass have in common."""

    model: str
    training: bool
    grad_enabled: bool
    loader: str


class EvaluationPass:
    """Forwards with one key since the last backward.

    The values of losses are added up where they lie; a loss that may yet be trained on, as the first one of a training
    step is, is only remembered weakly.

    Attributes:
        awake: Paths of dropout and batch norm modules that are in training mode.
        norms: Of these, the ones that move their statistics.
        alone: Whether the model is in evaluation mode and no part of it is.
        given: The tensor that it began with, or that one's whole.
        differentiates_input: Whether what it began with requires a gradient: that needs a graph.
        gave: What the newest forward returned, where that was heard.
        looks_like_training: Whether only the lack of a backward tells these forwards from training.
        trained: Whether a backward has followed the call that began it.
    """

    def __init__(self, key: Key, loader: Loader | None, frame: FrameType) -> None:
        self.key, self.loader = key, loader
        self.awake: tuple[str, ...] = ()
        self.norms: tuple[str, ...] = ()
        self.alone = False
        self.code, self.instruction = frame.f_code, frame.f_lasti
        self.lines = sites_above(frame, most=MOST_LINES)
        self.site = self.lines[0] if self.lines else None
        self.looks_like_training = key.training and key.grad_enabled
        self.trained = self.differentiates_input = False
        self.given: weakref.ref[torch.Tensor] | None = None
        self.gave: weakref.ref[torch.Tensor] | None = None
        self.clear()

    def own_line(self, others: Container[Site]) -> Site | None:
        """Return the innermost line that led to these forwards alone, and is not in what only passes a call on.

        Args:
            others: Lines that led to forwards that were trained.
        """
        own = [each for each in self.lines if each not in others]
        return next((each for each in own if each.code.co_name not in PASSING_ON), next(iter(own), self.site))

    def look_at(self, module: nn.Module, model: Model) -> None:
        """Take in the modes of what is called."""
        self.awake, self.norms = awake_parts(module, model, MOST_NAMES)
        self.alone = is_alone(module)

    def begin_with(self, args: Any, kwargs: Any) -> None:
        """Remember what the first forward was given: a part of a tensor is known by its whole."""
        self.differentiates_input = differentiates((args, kwargs))
        given = next((each for each in args if is_tensor(each)), None)
        if given is not None:
            self.given = weakref.ref(given if given._base is None else given._base)

    def is_given_again(self, before: "weakref.ref[torch.Tensor] | None") -> bool:
        """Whether an earlier pass began with the same tensor, which is still there."""
        given = self.given() if self.given is not None else None
        return given is not None and before is not None and before() is given

    def end_with(self, output: Any) -> None:
        """Remember what a forward returned."""
        tensor = next(tensors_in(output), None)
        self.gave = weakref.ref(tensor) if tensor is not None else None

    def has_given(self, value: Any) -> bool:
        """Whether a value is what the newest forward returned, or a view of it."""
        gave = self.gave() if self.gave is not None else None
        return gave is not None and (value is gave or getattr(value, "_base", None) is gave)

    def clear(self) -> None:
        """Begin again, as at the next step of a loop."""
        self.forwards = 0
        self.losses = 0
        self.node = ""
        self._first: tuple[str, weakref.ref[torch.Tensor], int] | None = None
        self._sums: dict[tuple[str, Site | None], tuple[torch.Tensor, int]] = {}  # times their samples, and these
        self._values: dict[int, tuple[tuple[str, Site | None], torch.Tensor, int]] = {}  # by the numbers of their nodes

    def add(self, name: str, output: torch.Tensor, site: Site | None, samples: int) -> None:
        """Take in a loss computed on this pass's outputs, from a line where no loader tells passes apart."""
        if self.awaits_backward:
            self.hold(name, output, samples)
            return
        self.losses += 1
        if output.grad_fn is not None:
            self.node = output.grad_fn.name()
        self._add_first(site)
        self._sum(name, site, output, samples)

    @property
    def awaits_backward(self) -> bool:
        """Whether a backward is likely to follow the next loss, as it does the first one of a training step."""
        return not self.losses and self.looks_like_training

    def hold(self, name: str, output: torch.Tensor, samples: int) -> None:
        """Remember a loss that a backward is likely to follow."""
        self.losses = 1
        self._first = name, weakref.ref(output), samples

    def means(self) -> dict[tuple[str, Site | None], float]:
        """Return the mean of each loss over its samples: a last batch that has few counts little."""
        self._add_first(None)
        values = fetch([total for total, _ in self._sums.values()])
        counts = (count for _, count in self._sums.values())
        return {key: value / count for key, value, count in zip(self._sums, values, counts, strict=True)}

    def _add_first(self, site: Site | None) -> None:
        """Add the loss that was only remembered, if the user still holds it."""
        first, self._first = self._first, None
        output = first[1]() if first is not None else None
        if first is not None and output is not None:
            self._sum(first[0], site, output, first[2])

    def drop_last(self) -> None:
        """Take out the last forward and its loss, which turned out to be training."""
        self.forwards -= 1
        if self._values:
            self._subtract(*self._values.popitem()[1])

    def take_out(self, differentiated: Any) -> None:
        """Take out the losses that something was computed from, whose gradients are asked for."""
        behind = set(_numbers_behind(differentiated))
        first = self._first[1]() if self._first is not None else None
        if first is not None and _number_of(first.grad_fn) in behind:
            self._first = None
            self.losses -= 1
        for number in behind & self._values.keys():
            self._subtract(*self._values.pop(number))

    def _subtract(self, key: tuple[str, Site | None], value: torch.Tensor, samples: int) -> None:
        total, count = self._sums.pop(key)
        if count > samples:
            self._sums[key] = total - value, count - samples
        self.losses -= 1

    def _sum(self, name: str, site: Site | None, output: torch.Tensor, samples: int) -> None:
        stored, key = plain(output), (name, site)
        value = (output.detach() if stored is None else stored).reshape(())
        value = (value.float() if value.dtype.itemsize < SINGLE else value) * samples
        known = self._sums.get(key)
        if known is None and len(self._sums) >= MOST_LOSSES:
            return
        self._sums[key] = (value, samples) if known is None else (known[0] + value, known[1] + samples)
        if output.grad_fn is not None:
            self._values[_number_of(output.grad_fn)] = key, value, samples
            if len(self._values) > MOST_VALUES:
                del self._values[next(iter(self._values))]


def differentiates(given: Any) -> bool:
    """Whether a tensor that a forward was given, by name or within a tuple too, requires a gradient."""
    return any(is_tensor(each) and each.requires_grad for each in tensors_in(given))


def _number_of(node: Any) -> int:
    return int(node._sequence_nr())


def _numbers_behind(tensors: Any) -> Iterator[int]:
    """Yield autograd's numbers of the nodes nearest above some tensors."""
    todo = deque(node for each in tensors if (node := getattr(each, "grad_fn", None)) is not None)
    seen: set[Any] = set()
    while todo and len(seen) < MOST_NODES:
        node = todo.popleft()
        if node not in seen:
            seen.add(node)
            yield _number_of(node)
            todo.extend(parent for parent, _ in node.next_functions if parent is not None)


def nodes_named(loss: Any, name: str, most: int) -> int:
    """Return how many nodes of a loss's graph have a name, among the ``most`` nearest ones."""
    queue = [loss.grad_fn] if isinstance(loss, torch.Tensor) else []
    seen: set[Any] = set()
    found = 0
    while queue and len(seen) < most:
        node = queue.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        found += node.name() == name
        queue.extend(parent for parent, _ in node.next_functions)
    return found
