"""This file is the memory of a step: what its models and losses were given, so that the step can be run again."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import ref

import torch
from torch import nn

from torchmagic.probes.members import Model
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.sites import Site, caller_of, is_users, is_users_file, site_of
from torchmagic.probes.taps import Taps
from torchmagic.tensors import accelerators
from torchmagic.tensors.presence import is_transformed

# Calls of models and losses remembered within a step: a recurrent loop may call many times.
MOST_CALLS = 32
# The same for models in evaluation mode, which seldom learn.
MOST_EVALUATED = 4
random_state = torch.default_generator.get_state


class Instruction(NamedTuple):
    """An instruction in a code object; cheaper to make than a line, which is looked up when it is wanted."""

    code: CodeType
    lasti: int

    def site(self) -> Site:
        """Return the line."""
        line = list(self.code.co_positions())[self.lasti // 2][0]
        return Site(self.code, line or self.code.co_firstlineno)


@dataclass(slots=True, eq=False)
class Call:
    """A call of a model: what it was given (``args`` may be a copy), the instruction, and the random numbers' state."""

    module: nn.Module
    model: Model
    given: Any
    args: Any
    kwargs: Any
    code: CodeType
    lasti: int
    site: Site | None
    random: torch.Tensor | None
    devices: accelerators.Streams

    def line(self) -> Site:
        """Return the user's line that called."""
        return self.site or Instruction(self.code, self.lasti).site()


@dataclass(slots=True, eq=False)
class Loss:
    """A call of a loss function; what it was given is not kept alive."""

    name: str
    code: CodeType
    lasti: int
    given: "ref[torch.Tensor]"
    target: "ref[torch.Tensor] | None"
    output: "ref[torch.Tensor]"

    def line(self) -> Site:
        """Return the user's line that called."""
        return Instruction(self.code, self.lasti).site()


@dataclass(slots=True, eq=False)
class Backward:
    """A backward pass: the instruction that asked for it, and which calls of models came before."""

    code: CodeType
    lasti: int
    first: int
    last: int

    def line(self) -> Site:
        """Return the user's line that asked for it."""
        return Instruction(self.code, self.lasti).site()


class StepMemory:
    """Keeps the calls of models, of losses and of backward since the last optimizer step.

    What models are given is kept as it is; only for a model that changes its inputs in place is a copy kept. Nothing is
    worked out before somebody asks: a step that is well pays for a few tuples.

    Attributes:
        raw_calls: Of each call of a model what ``Call`` is made of.
        raw_losses: Of each call of a loss what ``Loss`` is made of.
        raw_backwards: Code and instruction of each backward, and how many calls of models came before.
        caller: The user's code that called a model last.
    """

    def __init__(self) -> None:
        self.raw_calls: list[tuple[Any, ...]] = []
        self.raw_losses: list[tuple[Any, ...]] = []
        self.raw_backwards: list[tuple[CodeType, int, int]] = []
        self.made: list[Call] = []
        self._versions: list[tuple[Any, list[int]]] = []
        self._learning = True  # in the first step nobody knows yet whether a model changes what it is given
        self._copies = True
        self._devices = accelerators.are_possible()
        # Whether the state of the random numbers is kept, the dearest part of remembering; and whether the step is to
        # tell if that is needed.
        self.draws = self._in_doubt = True
        self.steps = 0
        self.failed = False  # whether the newest call raised
        self.caller: CodeType | None = None

    def attach(self, taps: Taps) -> None:
        """Listen for calls that raise."""
        taps.on("root_error", self._fails)

    def _fails(self, module: nn.Module) -> None:
        self.failed = bool(self.raw_calls) and self.raw_calls[-1][0] is module

    @property
    def calls(self) -> list[Call]:
        """The calls of models, the oldest first."""
        for raw in self.raw_calls[len(self.made) :]:
            self.made.append(Call(*raw))
        return self.made

    @property
    def losses(self) -> list[Loss]:
        """The calls of loss functions, the oldest first."""
        return [Loss(*raw) for raw in self.raw_losses]

    @property
    def backwards(self) -> list[Backward]:
        """The backward passes, the oldest first."""
        firsts = [0, *(last for _, _, last in self.raw_backwards)]
        return [
            Backward(code, lasti, first, last)
            for first, (code, lasti, last) in zip(firsts, self.raw_backwards, strict=False)
        ]

    def num_known(self) -> int:
        """Return how many further steps teach nothing about what is to be kept of them; 0 where that takes copies."""
        if self._in_doubt or self._learning or self._copies or (self.draws and self._devices) or not self.steps:
            return 0
        return (1 << (self.steps - 1).bit_length()) - self.steps

    def clear(self) -> None:
        """Let go of the step's tensors."""
        if self.raw_calls:
            if self._in_doubt:
                self.draws, self._in_doubt = self._may_draw(), False
            elif not self.steps & (self.steps - 1):
                self.draws = self._in_doubt = True
            self.steps += 1
            if self._learning:
                self._copies = any(_versions(args) != versions for args, versions in self._versions)
                self._learning = False
                self._versions.clear()
            self.raw_calls.clear()
            self.made.clear()
        self.raw_losses.clear()
        self.raw_backwards.clear()
        self.failed = False

    def _may_draw(self) -> bool:
        """Whether random numbers were drawn since the first call, or a model holds a layer that draws some."""
        first, devices = self.raw_calls[0][-2:]
        if first is None or is_transformed():
            return True
        if not torch.equal(first, random_state()) or accelerators.have_moved(devices):
            return True
        modules = (part for call in self.raw_calls for part in modules_of(call[0]))
        return any("Drop" in type(part).__name__ for part in modules)

    def _is_users(self, code: CodeType) -> bool:
        """Whether code is the user's own, which then is remembered: it is likely to call again."""
        users = is_users_file(code.co_filename)
        if users:
            self.caller = code
        return users

    def call(self, module: nn.Module, model: Model, args: Any, kwargs: Any, frame: FrameType) -> None:
        """Remember the call of a model."""
        calls = self.raw_calls
        if self.failed and not (self.raw_backwards and self.raw_backwards[-1][2] >= len(calls)):
            self._forget(-1)  # whoever goes on has freed what it was given, as for a smaller batch
        self.failed = False
        if len(calls) >= (MOST_CALLS if module.training else MOST_EVALUATED):
            if self.raw_backwards:
                return
            self._forget(0)  # an evaluation that forgot no_grad must not keep its batches
        code, copies = frame.f_code, args
        if self._copies:
            copies = _copies(args)
            if self._learning:
                self._versions.append((args, _versions(args)))
        site = None if code is self.caller or self._is_users(code) else site_of(frame)
        state = random_state() if self.draws else None
        devices = accelerators.streams() if self.draws and self._devices else ()
        calls.append((module, model, args, copies, kwargs, code, frame.f_lasti, site, state, devices))

    def _forget(self, place: int) -> None:
        """Let go of a call."""
        del self.raw_calls[place]
        self.made.clear()
        if self._learning:
            self._versions[place : place + 1 or None] = []

    def loss(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        """Remember the call of a loss function."""
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not isinstance(output, torch.Tensor) or not isinstance(given, torch.Tensor):
            return
        if len(self.raw_losses) >= MOST_CALLS:
            self.raw_losses.pop(0)
        caller = caller_of(frame) or frame
        wanted = ref(target) if isinstance(target, torch.Tensor) else None
        self.raw_losses.append((name, caller.f_code, caller.f_lasti, ref(given), wanted, ref(output)))

    def backward(self, caller: FrameType | None) -> None:
        """Remember a backward pass, where the user's own code asked for it."""
        if caller is None or not (caller.f_code is self.caller or is_users(caller)):
            return
        if len(self.raw_backwards) < MOST_CALLS:
            self.raw_backwards.append((caller.f_code, caller.f_lasti, len(self.raw_calls)))

    def of(self, backward: Backward) -> Sequence[Call]:
        """Return the calls that belong to a backward pass."""
        return self.calls[backward.first : backward.last] or self.calls[: backward.last]


def _versions(args: Any) -> list[int]:
    return [each._version for each in args if type(each) is torch.Tensor and not each.is_inference()]


def _copies(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of tensors; what is given twice, as to self-attention, stays one."""
    made = {id(each): _copied(each) for each in values}
    return tuple(made[id(each)] for each in values)


def _copied(value: Any) -> Any:
    if type(value) is torch.Tensor and not value.requires_grad:
        return value.detach().clone()
    return value
