"""This file replays a sick step on what it was given, and leaves everything as it was."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from torchmagic.probes.alone import AloneError, as_if_alone
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.origin_memory import Call
from torchmagic.probes.origin_trace import Event, Trace, storage_of
from torchmagic.probes.rank_models import alone_in
from torchmagic.probes.replay_wrappers import traced_graph, watch_modules, watch_operators
from torchmagic.probes.taps import Taps
from torchmagic.probes.undisturbed import undisturbed
from torchmagic.tensors import accelerators
from torchmagic.tensors.finite import is_finite

# What makes a loss again, and the gradient that its backward is given (None for a scalar).
Deed = Callable[[], tuple[Any, Any]]


@dataclass(slots=True)
class Outcome:
    """What a replay showed.

    Args:
        event: Where the first non-finite value came from; None when all was finite.
        trace: Everything that was seen.
        loss: The replay's loss.
        bad: Indices of the tensors whose gradients are not finite.
    """

    event: Event | None
    trace: Trace
    loss: Any = None
    bad: list[int] = field(default_factory=list)

    @property
    def backward(self) -> bool:
        """Whether the value broke in the backward."""
        return bool(self.bad)


class Replay:
    """Runs a deed again under the eyes of a trace.

    Args:
        calls: The recorded calls of models that may run in it, in order.
        taps: Through which operators and modules are seen.
        modules: Other models that may run.
        graph: Whether gradients were on.
    """

    def __init__(self, calls: Sequence[Call], taps: Taps, modules: Iterable[nn.Module], *, graph: bool = True) -> None:
        self._taps, self._graph = taps, graph
        roots = [*modules, *(each.module for each in calls)]
        self._modules = list({id(part): part for root in roots for part in modules_of(root)}.values())
        self._waiting = list(calls)
        self._alone = {id(each.module): alone_in(each.module) for each in calls}
        self.copies: dict[Any, torch.Tensor] = {}

    def serve(self, group: list[Call]) -> Callable[[], Any]:
        """Return a function that runs the next of some recorded calls on copies of what it was given."""
        waiting = list(group)

        def call() -> Any:
            each = waiting.pop(0)
            # what is given twice, as to self-attention, stays one: torch may choose other operators for two
            made = {id(value): (_copy(value), value) for value in tree_leaves((each.args, each.kwargs))}
            args, kwargs = tree_map(lambda value: made[id(value)][0], (each.args, each.kwargs))
            for copy, original in made.values():
                if isinstance(copy, torch.Tensor):
                    self.copies[storage_of(copy)] = original
            return (self._alone[id(each.module)] or each.module)(*args, **kwargs)

        return call

    def run(self, deed: Deed, wanted: Sequence[torch.Tensor] | None) -> Outcome:
        """Do a deed, and its backward where gradients are wanted.

        Args:
            deed: Returns the loss and the gradient it is given.
            wanted: Tensors whose gradients are asked for; None for the forward alone.

        Raises:
            AloneError: If other ranks would have to run it too: they do not, and would be waited for.
        """
        if None in self._alone.values():
            raise AloneError("the model's parts lie on several ranks")
        trace = Trace(_watched.__code__, self._enter)
        with as_if_alone(self._taps), undisturbed(self._modules, self.copies), watch_modules(trace.module):
            with traced_graph(graph=self._graph), watch_operators(trace.operator):
                loss, gradients = _watched(deed, wanted)
            losses = [each for each in tree_leaves(loss) if isinstance(each, torch.Tensor)]
            broken = min((each for each in losses if not is_finite(each)), key=_without_nan, default=None)
            if broken is not None:
                return Outcome(trace.origin(broken), trace, losses)
            bad = [i for i, each in enumerate(gradients) if each is not None and not is_finite(each)]
            found = [trace.origin(gradients[i], backward=True) for i in bad]
            event = min((each for each in found if each is not None), key=lambda each: each.number, default=None)
        return Outcome(event, trace, losses, bad)

    def name_outside(self, outcome: Outcome, names: dict[str, Any]) -> None:
        """Put the user's tensor in the place of a copy of it, and find its name."""
        event = outcome.event
        if event is None or not event.outside:
            return
        event.output = self.copies.get(storage_of(event.output), event.output)
        place = storage_of(event.output)
        same = (n for n, v in names.items() if isinstance(v, torch.Tensor) and storage_of(v) == place)
        event.node = next((name for name in same if not name.startswith("_")), "")

    def _enter(self, module: nn.Module) -> None:
        """Before a model runs, put the random numbers where they stood when it ran."""
        for number, each in enumerate(self._waiting):
            if self._alone[id(each.module)] is module:
                del self._waiting[: number + 1]
                if each.random is not None:
                    torch.default_generator.set_state(each.random)
                accelerators.put_back(each.devices)
                return


def _without_nan(tensor: torch.Tensor) -> bool:
    return not bool(torch.isnan(tensor).any())


def _copy(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _watched(deed: Deed, wanted: Sequence[torch.Tensor] | None) -> tuple[Any, Sequence[Any]]:
    """Run forward and backward; no frame below this one belongs to the replay."""
    loss, gradient = deed()
    losses = [each for each in tree_leaves(loss) if isinstance(each, torch.Tensor)]
    differentiable = [each for each in losses if each.requires_grad]
    if wanted is None or not differentiable or not all(is_finite(each) for each in losses):
        return loss, ()
    given = [each for each in tree_leaves(gradient) if isinstance(each, torch.Tensor)] or None
    return loss, torch.autograd.grad(differentiable, list(wanted), given, allow_unused=True)
