"""This file is the flow of gradients to one optimizer: which of its parameters still wait for their first."""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Optimizer
from torchmagic.probes.optimizer_state import has_stepped
from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.place import Place
from torchmagic.tensors.reduce import is_measurable, norms

# Parameters looked at in one look: in the first steps, and in later ones.
MANY, FEW, LATER = 64, 16, 64
# Names in one record.
MOST_NAMES = 16
# Steps without any gradient after which it is asked which model trains instead.
ASK_AFTER = 2


class Waiting:
    """A parameter that has had no gradient so far."""

    __slots__ = ("changed", "length", "ref", "since", "stepped_before")

    def __init__(self, tensor: torch.Tensor, since: int, *, stepped_before: bool) -> None:
        self.ref = weakref.ref(tensor)
        self.since = since
        self.length: float | None = None
        self.changed, self.stepped_before = False, stepped_before


class Twin(NamedTuple):
    """What is trained in place of what an optimizer holds: a model, or the tensor that a variable holds by now."""

    name: str = ""
    is_tensor: bool = False


_NO_TWIN = Twin()


class Flow:
    """What is known of an optimizer's gradients.

    Args:
        place: Line of its first step.
    """

    def __init__(self, place: Place | None) -> None:
        self.place = place
        self.steps = 0
        self.waiting: dict[int, Waiting] = {}
        self.names: dict[int, str] = {}
        self.received: set[int] = set()
        self.late: set[str] = set()
        self.frozen: tuple[str, ...] = ()
        self.twin = _NO_TWIN
        self.idle = self.idle_since = 0
        self.seen = (-1, -1)
        self._used: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._groups: tuple[int, ...] = ()
        self._turn = self._num_trainable = 0

    def take_in(self, entry: Optimizer, step: int, cast: Cast) -> None:
        """Wait for the gradients of parameters that are new, or trainable only now."""
        optimizer = entry.ref()
        if optimizer is None:
            return
        tensors = [(number, each) for number, group in enumerate(optimizer.param_groups) for each in group["params"]]
        named = list(zip(entry.names, tensors, strict=False))
        frozen = [(name, number) for name, (number, tensor) in named if self._is_frozen(tensor, optimizer)]
        self.frozen = tuple(name for name, _ in frozen)
        self._groups = tuple(dict.fromkeys(number for _, number in frozen))
        trainable = [(name, tensor) for name, (_, tensor) in named if tensor.requires_grad]
        self._num_trainable = len(trainable)
        for name, tensor in trainable:
            key = id(tensor)
            self.names[key] = name
            if tensor.grad is not None:
                self.received.add(key)
            elif key not in self.waiting and key not in self.received and tensor.is_leaf:
                before = step == 0 and has_stepped(optimizer, tensor)
                self.waiting[key] = Waiting(tensor, step, stepped_before=before)
        self.seen = entry.seen
        self.measure()
        if self.waiting and not self.received and self.steps >= ASK_AFTER and not self.twin.name:
            self.twin = self._find_twin([tensor for _, tensor in trainable], cast)
        elif self.received:
            self._ask_again([tensor for _, tensor in trainable], step, cast)

    def _ask_again(self, trainable: Sequence[torch.Tensor], step: int, cast: Cast) -> None:
        """Ask which model trains instead where no gradient is new: each is none, zero, or what a look before found."""
        few = trainable[:: len(trainable) // FEW or 1]
        found = [each.grad for each in few if each.grad is not None and self._is_new(each, each.grad)]
        twin = self._find_twin(trainable, cast) if self.steps >= ASK_AFTER else _NO_TWIN
        if not twin.name or any(not is_measurable(each) for each in found) or any(norms([g.detach() for g in found])):
            self.twin, self.idle = _NO_TWIN, 0
        else:
            self.idle_since = self.idle_since if self.idle else step
            self.twin, self.idle = twin, step + 1 - self.idle_since

    def _find_twin(self, tensors: Sequence[torch.Tensor], cast: Cast) -> Twin:
        """Return what gets gradients in place of an optimizer's tensors."""
        model = _model_like(tensors, cast)
        if model:
            return Twin(model)
        known = cast.known()  # a model keeps its parameters
        named = [(name, each) for each in tensors if id(each) not in known and (name := self.names.get(id(each)))]
        moved = [name for name, each in named if _is_elsewhere(name, each, cast)]
        return Twin(moved[0], is_tensor=True) if 2 * len(moved) > len(tensors) else _NO_TWIN

    def _is_new(self, parameter: torch.Tensor, gradient: torch.Tensor) -> bool:
        """Whether a gradient was made or written since the last look."""
        ref, version = self._used.get(id(parameter), (None, -1))
        self._used[id(parameter)] = (weakref.ref(gradient), gradient._version)
        return ref is None or ref() is not gradient or version != gradient._version

    def _is_frozen(self, tensor: torch.Tensor, optimizer: torch.optim.Optimizer) -> bool:
        """Whether a parameter is not trained; one that is only passed by for a moment was."""
        trained = id(tensor) in self.received or has_stepped(optimizer, tensor)
        return not tensor.requires_grad and not trained

    def look(self, step: int) -> None:
        """Let go of parameters that have a gradient by now."""
        keys = list(self.waiting)
        most = MANY if step < LATER else FEW
        if len(keys) > most:
            self._turn = (self._turn + most) % len(keys)
            keys = (keys + keys)[self._turn : self._turn + most]
        for key in keys:
            tensor = self.waiting[key].ref()
            if tensor is None:  # of a model that is gone: it stays without
                continue
            if tensor.grad is not None:
                if step > self.waiting[key].since:
                    self.late.add(self.names[key])
                self.received.add(key)
                del self.waiting[key]
            elif not tensor.requires_grad:
                del self.waiting[key]

    def measure(self) -> None:
        """Notice values that change all the same, as those of an average do."""
        alive = [
            (each, tensor)
            for each in self.waiting.values()
            if (tensor := each.ref()) is not None and is_measurable(tensor)
        ]
        lengths = norms([tensor.detach() for _, tensor in alive]) if alive else []
        for (each, _), length in zip(alive, lengths, strict=True):
            each.changed = each.changed or each.length not in (None, length)
            each.length = length

    def compare(self, held: Mapping[str, int]) -> None:
        """Notice parameters in whose place the model has another one now: its own code gives it its values.

        Args:
            held: Identities of the parameters that models have now, by their names.
        """
        for key, each in self.waiting.items():
            each.changed = each.changed or (each.ref() is not None and held.get(self.names[key], key) != key)

    def record(self, name: str, num_backwards: int) -> GradientFlowRecord:
        """Return what is known as a record."""
        return GradientFlowRecord(
            optimizer=name,
            steps=self.steps,
            num_trainable=self._num_trainable,
            num_received=len(self.received),
            frozen=self.frozen[:MOST_NAMES],
            num_frozen=len(self.frozen),
            groups=self._groups,
            twin=self.twin.name,
            twin_is_tensor=self.twin.is_tensor,
            num_backwards=num_backwards,
            place=self.place,
            idle=self.idle,
            idle_since=self.idle_since,
        )


def subtrees(
    waiting: Sequence[str], known: Iterable[str], frozen: Iterable[str], roots: Sequence[str]
) -> list[tuple[str, bool, list[str]]]:
    """Return the largest modules none of whose trainable parameters had a gradient, and what is left over.

    Args:
        waiting: Names of parameters that had none.
        known: Names of all parameters of the model.
        frozen: Names of those that require none.
        roots: Names of the models, which may have dots themselves.

    Returns:
        Path of the module, whether it waits as a whole, and the names of its parameters that do.
    """
    silent = {*waiting, *frozen}
    flowing = [name for name in known if name not in silent]
    alive = {name[:end] for name in flowing for end, letter in enumerate(name) if letter == "."}
    found: dict[tuple[str, bool], list[str]] = {}
    for name in waiting:
        parts = name.split(".")
        paths = [".".join(parts[:end]) for end in range(1, len(parts))]
        paths = [path for path in paths if not any(root.startswith(f"{path}.") for root in roots)]
        path = next((path for path in paths if path not in alive), None)
        owner = name.rpartition(".")[0]
        found.setdefault((path, True) if path is not None else (owner, False), []).append(name)
    return [(path, whole, names) for (path, whole), names in found.items()]


def _owned(cast: Cast) -> set[int]:
    """Return the identities of what optimizers hold, those too that have not stepped."""
    owned = {id(tensor) for entry in cast.optimizers for ref in entry.refs if (tensor := ref()) is not None}
    for _, optimizer in cast.names.of_kind(torch.optim.Optimizer):
        owned |= {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    return owned


def _model_like(tensors: Sequence[torch.Tensor], cast: Cast) -> str:
    """Return the model that has gradients which no optimizer owns, and the shapes of these tensors."""
    owned = _owned(cast)
    wanted = [tuple(tensor.shape) for tensor in tensors]
    for model in cast.models:
        parameters = [tensor for ref in model.parameters.values() if (tensor := ref()) is not None]
        left = [tuple(each.shape) for each in parameters if each.grad is not None and id(each) not in owned]
        shared = sum(min(left.count(shape), wanted.count(shape)) for shape in set(left))
        if 2 * shared > len(wanted):
            return model.name
    return ""


def _is_elsewhere(name: str, tensor: torch.Tensor, cast: Cast) -> bool:
    """Whether the variable that held a tensor holds another of its shape by now, which gets gradients in vain."""
    return any(
        each.is_leaf and each.grad is not None and each.shape == tensor.shape and id(each) not in _owned(cast)
        for each in cast.names.tensors_of([name])
    )
