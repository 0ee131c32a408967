"""This file is the losses of a pass: those computed on a model's outputs, or the one that the model gives itself."""

from collections.abc import Callable, Collection, Mapping
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.evaluation_pass import EvaluationPass
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.user_modes import plain_tensors
from torchmagic.tensors.genuine import is_tensor
from torchmagic.tensors.presence import has_numbers

# Losses computed within one forward that are remembered.
MOST_INSIDE = 64
# Under which a model gives its loss beside its outputs, as those of transformers do.
KEY = "loss"


class ModelLosses:
    """Hands the pass under way its losses; of those computed inside a model, what comes of them.

    Args:
        cast: The models.
        current: Tells the pass under way, or None.
        opened: Tells all that no backward has followed yet.
    """

    def __init__(
        self, cast: Cast, current: Callable[[], EvaluationPass | None], opened: Callable[[], Collection[EvaluationPass]]
    ) -> None:
        self._cast, self._current, self._opened = cast, current, opened
        self._taps: Taps | None = None
        self._inside: list[tuple[str, torch.Tensor, Site | None, int]] = []
        self._returned = _Returned(self)

    def attach(self, taps: Taps) -> None:
        """Listen for losses, and, once one is computed inside a model, for what models return."""
        self._taps = taps
        taps.on("loss", self._lost)
        taps.on("root_end", self._returned.take)
        taps.on("differentiated", self._differentiated)

    def listen(self, begun: EvaluationPass) -> None:
        """Hear what a pass without gradients returns, where losses may be computed once several models have run."""
        if self._taps is not None and not begun.key.grad_enabled and len(self._cast.models) > 1:
            self._taps.listeners.wake_up(self._returned)

    def forget(self) -> None:
        """Let go of what a forward that did not end has left."""
        self._inside.clear()

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        current = self._current()
        if current is None or self._taps is None or not isinstance(output, torch.Tensor) or output.numel() != 1:
            return
        if output.requires_grad and not current.key.grad_enabled:
            return  # a training's loss, whose targets another network was asked for
        if not has_numbers(output):
            return
        given = args[0] if args else kwargs.get("input")
        label, samples = _label(name, kwargs), _samples(given, kwargs)
        inside = in_model(self._taps)
        if not inside and current.awaits_backward and len(self._opened()) == 1:
            current.hold(label, output, samples)  # as at every step of a plain loop
            return
        if not inside:
            current = next((each for each in self._opened() if each.has_given(given)), current)
        site = None if current.key.loader else site_of(frame)
        if not inside:
            current.add(label, output, site, samples)
        elif len(self._inside) < MOST_INSIDE:
            self._inside.append((name, output, site, samples))
            self._taps.listeners.wake_up(self._returned)

    def _differentiated(self, tensors: Any, inputs: Any, frame: FrameType) -> None:
        """Take out losses whose gradients are asked for: the user steps by hand on them, and evaluates nothing."""
        current = self._current()
        if current is not None and current.losses:
            current.take_out(tensors)

    def end(self, output: Any) -> None:
        """Take the losses of a forward that has ended."""
        inside, self._inside = self._inside, []
        current = self._current()
        hears = current is not None and not current.key.grad_enabled
        if current is not None and hears:
            current.end_with(output)
        if not inside and not hears and self._taps is not None:
            self._taps.rest(self._returned, until=NEVER)
        if not inside or current is None:
            return
        own = output.get(KEY) if isinstance(output, Mapping) else None
        if isinstance(own, torch.Tensor) and own.numel() == 1 and has_numbers(own):
            inside = [(inside[0][0] if len(inside) == 1 else KEY, own, *inside[0][2:])]
        for name, value, site, samples in inside:
            current.add(name, value, site, samples)


def _label(name: str, kwargs: Any) -> str:
    return f"sum of {name}" if kwargs.get("reduction") == "sum" else name


def _samples(given: Any, kwargs: Any) -> int:
    """Return over how many samples a loss is a mean; 1 for a sum, and where that is not known."""
    if kwargs.get("reduction") == "sum" or not is_tensor(given):
        return 1
    if type(given) is torch.Tensor:
        shape = given.shape
    else:
        with plain_tensors():
            shape = given.shape
    return max(int(shape[0]), 1) if shape else 1


def in_model(taps: Taps) -> bool:
    """Whether the code stands in a model, and not in a criterion that is called by itself."""
    return bool(taps.depth and taps.stack and (taps.stack[0]._modules or taps.stack[0]._parameters))


class _Returned:
    """Hears what models return: a listener of its own, so that it can rest where no loss is computed inside one."""

    def __init__(self, owner: ModelLosses) -> None:
        self._owner = owner

    def take(self, module: Any, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        """Hand on what a model returned."""
        self._owner.end(output)
