"""This file watches gradients that several backward passes add up, each of a loss that is a mean by itself."""

from itertools import pairwise
from types import FrameType
from typing import Any, NamedTuple

import torch

from torchmagic.probes.batch_identity import Identity, differ, identity_of
from torchmagic.probes.cast import Cast
from torchmagic.probes.loss_shares import undivided
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.scaling import Scaling
from torchmagic.probes.sites import Site, caller_of, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.loop import AccumulationRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import fields_in

# Enough records to convince a rule.
MOST_RECORDS = 12
# Once so many steps in a row needed one backward, or one that is divided, steps go by between two looks, ever more.
FIRST_STEPS, LATER_STEPS, BETWEEN_LOOKS, LONGEST_REST = 6, 2, 64, 512
# Parameters whose gradients stand for all.
FEW = 4
# Terms of a sum among which the criterion is looked for.
MOST_TERMS = 8
# What makes the elements of a loss that is written out: ``((x - y) ** 2).mean()``.
ELEMENTS = ("Pow", "Abs", "Softplus", "Mul", "Sqrt")

# Under which the node of a criterion remembers which one it is.
KEY = "torchmagic.criterion"


class _Pass(NamedTuple):
    """A backward: from where, of which criterion (empty where it is not a plain mean), on which batch."""

    where: tuple[int, int]
    site: Site | None
    criterion: str
    batch: Identity | None


class _Period:
    """The backward passes since an optimizer's last step that its gradients hold."""

    def __init__(self) -> None:
        self.passes: list[_Pass] = []
        self.left: list[tuple[int, int]] = []
        self.seen = False
        self.single = 0


class Accumulation:
    """Records ``AccumulationRecord`` for steps whose gradient is a sum of means over different batches."""

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._scaling = Scaling()
        self._batch: Identity | None = None
        self._carries = False
        self._loaders: set[int] = set()
        self._pass: _Pass | None = None
        self._periods: dict[int, _Period] = cast.at_work.notes()
        self._records = 0
        self._touched = False
        self._first_steps, self._between = FIRST_STEPS, BETWEEN_LOOKS

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for batches, losses, backward passes and steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("batch", self._fetched)
        taps.on("root_begin", self._forward)
        taps.on("loss", self._loss)
        taps.on("backward_begin", self._backward_begins)
        taps.on("backward_end", self._backward_ends)
        taps.on("clipped", self._scaled)
        taps.on("unscaled", self._scaled)
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)
        self._scaling.attach(taps)

    def detach(self) -> None:
        """Let go of everything."""
        self._periods.clear()

    def _fetched(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        self._loaders.add(id(getattr(iterator, "_dataset", iterator)))

    def _forward(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._taps is None or not self._taps.grad_enabled:
            return
        if any(each is None or issubclass(type(each), tuple) for each in args[1:]):
            self._carries = True  # a recurrent state: the pieces of a sequence belong together
        if not self._batch:  # later models get what the first has made of the batch
            given = next((each for _, each in fields_in([*args, *kwargs.values()])), None)
            self._batch = None if given is None else identity_of(given)

    def _loss(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        if isinstance(output, torch.Tensor) and output.requires_grad:
            mean = kwargs.get("reduction", "mean") == "mean" and output.numel() == 1
            node: Any = output.grad_fn
            if node is not None:
                node.metadata[KEY] = name if mean else ""  # it dies with the graph

    def _backward_begins(self, tensors: Any, frame: FrameType) -> None:
        self._pass = None
        if not isinstance(tensors, torch.Tensor) or self._taps is None or self._taps.weighted:
            return
        loss = self._scaling.unscaled(tensors)
        caller = caller_of(frame)
        if loss is None or caller is None:
            return
        where = (id(caller.f_code), caller.f_lasti)
        self._pass = _Pass(where, site_of(frame), self._criterion(loss), self._batch)
        if self._carries:
            self._pass = self._pass._replace(criterion="")
        for entry in self._cast.at_work.members:
            period = self._periods.setdefault(id(entry), _Period())
            if period.left != _held(entry.refs):  # reset, or scaled by hand
                period.passes.clear()

    def _criterion(self, loss: torch.Tensor) -> str:
        """Return what made a loss: the name of a mean that nobody has divided, else nothing."""
        todo: list[Any] = [loss.grad_fn]
        for _ in range(MOST_TERMS):
            if not todo:
                return ""
            node = undivided(todo.pop(0))
            if node is None or KEY in node.metadata:
                return node.metadata[KEY] if node is not None else ""
            kind = str(node.name()).partition("Backward")[0]
            if kind == "Mean" and _is_written_out(node):
                return "mean"
            if kind == "Add":
                todo += [parent for parent, _ in node.next_functions if parent is not None]
        return ""

    def _backward_ends(self, tensors: Any, nanoseconds: int) -> None:
        for entry in self._cast.at_work.members:
            period = self._periods.setdefault(id(entry), _Period())
            left = _held(entry.refs)
            if self._pass is not None and left != period.left:
                period.passes.append(self._pass)
            period.left = left
        self._batch, self._carries = None, False

    def _scaled(self, *_: Any) -> None:
        """Take note that torch itself has changed the gradients in place."""
        self._touched = True

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        period = self._periods.setdefault(id(entry), _Period())
        passes = period.passes
        one = len(self._cast.optimizers) == 1 and len(self._loaders) <= 1
        by_hand = not self._touched and _held(entry.refs) != period.left
        if period.seen and one and not by_hand and _is_unscaled_sum(passes):
            period.single = 0
            self._records += 1
            if self._recorder is not None and self._records <= MOST_RECORDS:
                last = passes[-1]
                self._recorder.add(
                    AccumulationRecord(
                        optimizer=entry.name,
                        step=self._recorder.step,
                        num_backwards=len(passes),
                        criterion=last.criterion,
                        place=place_of(last.site),
                    )
                )
        else:
            period.single += period.seen

    def _step_ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        period = self._periods.setdefault(id(self._cast.optimizer(optimizer)), _Period())
        period.passes.clear()
        period.seen = True
        self._loaders.clear()
        self._touched = False
        told = self._records >= MOST_RECORDS
        if told or all(each.single >= self._first_steps for each in self._periods.values()):
            self._rest()

    def _rest(self) -> None:
        self._first_steps = LATER_STEPS
        self._periods.clear()
        if self._taps is not None and self._recorder is not None:
            self._taps.rest(self, until=self._recorder.step + self._between)
            self._between = min(2 * self._between, LONGEST_REST)


def _is_unscaled_sum(passes: list[_Pass]) -> bool:
    """Whether all passes came from one line, each of a mean, no two in a row on the same batch."""
    batches = [each.batch for each in passes if each.batch is not None and each.criterion]
    if len(batches) < max(len(passes), 2) or len({each.where for each in passes}) > 1:
        return False
    return all(differ(first, second) for first, second in pairwise(batches))


def _is_written_out(node: Any) -> bool:
    parent = node.next_functions[0][0] if node.next_functions else None
    return parent is not None and str(parent.name()).startswith(ELEMENTS)


def _held(refs: list[Any]) -> list[tuple[int, int]]:
    some = [ref() for ref in refs[:: len(refs) // FEW or 1]]
    return [(id(p.grad), p.grad._version) for p in some if p is not None and p.grad is not None]
