"""This file watches evaluation: which forwards learn nothing, in which mode, and with which losses."""

from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.evaluation_pass import EvaluationPass, Key, differentiates, nodes_named
from torchmagic.probes.evaluation_records import EvaluationRecords
from torchmagic.probes.loaders import Loader, Loaders
from torchmagic.probes.members import Model
from torchmagic.probes.model_losses import ModelLosses
from torchmagic.probes.sites import Site
from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import has_numbers

# Forwards that look like training need so many without a backward to be called evaluation.
ENOUGH = 3
# Nodes of a graph that are searched for the losses before a backward: enough for a recurrent loop.
MOST_NODES = 4000
# torch's own pass in training mode without gradients, which renews the statistics of batch norm.
RENEWAL = "update_bn"

OnPass = Callable[[str, float, Model | None], None]


class Validation:
    """Records ``EvaluationRecord`` and ``eval_loss`` at the end of each pass of forwards that no backward followed.

    A subject of ``eval_loss`` is a criterion and what it was computed on: ``cross_entropy(test)`` for batches of the
    loader ``test``, ``cross_entropy(net)`` where there was no loader, with ``#2`` for a second line; ``sum of …`` where
    it adds a batch up. It is the mean over the samples. ``eval_batches`` has a subject a model: the batches of each
    pass.

    A forward evaluates when gradients are off; in evaluation mode with gradients on, when another forward is the one
    that the backward follows; in training mode with gradients on, when several in a row on another loader, or several
    losses that the graph does not hold, were followed by none.
    """

    def __init__(self, cast: Cast, taps: Taps, loaders: Loaders) -> None:
        self._cast, self._taps, self._loaders = cast, taps, loaders
        self._recorder: Recorder | None = None
        self._open: dict[Key, EvaluationPass] = {}
        self._current: EvaluationPass | None = None
        self._usual_pass: EvaluationPass | None = None
        self._served = 0
        self._usual: dict[str, int] = {}
        self._trained_at: dict[Site | None, None] = {}
        self._trained_through: dict[Site, None] = {}
        self._trained_on: dict[int, int] = {}
        self._records = EvaluationRecords(cast)
        self.losses = ModelLosses(cast, lambda: self._current, lambda: list(self._open.values()))
        self.on_pass: list[OnPass] = []

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models, losses and backward passes."""
        self._recorder = recorder
        taps.on("root_begin", self._called)
        self.losses.attach(taps)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Forget what stood between a backward and its step: a look at the result in training mode."""
        self._current = None
        if self._open:
            self._open = {key: each for key, each in self._open.items() if not each.looks_like_training}

    def detach(self) -> None:
        """Hand over the passes that no backward followed any more."""
        for each in self._open.values():
            if self._evaluates_at_last(each):
                self._end(each)
        self.losses.forget()
        self._open, self._current, self._usual_pass = {}, None, None
        self._recorder = None

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        if model is None:
            return
        self.losses.forget()
        name, grad = self._fresh_loader(), self._taps.grad_enabled
        current = self._current or self._usual_pass
        if (
            current is None
            or current.key != (model.name, module.training, grad, name)
            or (current is self._usual_pass and not self._take_usual(current, frame))
        ):
            current = self._switch(Key(model.name, module.training, grad, name), module, model, (args, kwargs), frame)
        if current is not None:
            current.forwards += 1
        self._current = current

    def _fresh_loader(self) -> str:
        """Return the name of the loader that has given a batch since the last backward; nothing where none has."""
        loaders = self._loaders
        return loaders.current.name if loaders.current is not None and loaders.served != self._served else ""

    def _take_usual(self, usual: EvaluationPass, frame: FrameType) -> bool:
        """Begin the usual training forward once more, or go on with it; whether this is it."""
        if usual is self._current:
            return True
        if self._open or usual.code is not frame.f_code or usual.instruction != frame.f_lasti:
            return False
        usual.clear()
        self._open[usual.key] = usual
        return True

    def begins_shortly(self, model: Model, frame: FrameType) -> bool:
        """Take in a training call where it is the usual one; whether it is."""
        usual = self._usual_pass
        if usual is None or usual.key != (model.name, True, True, self._fresh_loader()):
            return False
        if not self._take_usual(usual, frame):
            return False
        self.losses.forget()
        usual.forwards += 1
        self._current = usual
        return True

    def loses_shortly(self, name: str, given: torch.Tensor, output: torch.Tensor, kwargs: Mapping[str, Any]) -> bool:
        """Take in a loss, outside any model, that the usual call's backward is likely to follow; whether it is one."""
        current = self._current
        if current is None or not current.awaits_backward or len(self._open) != 1 or output.numel() != 1:
            return False
        if kwargs.get("reduction") == "sum" or not given.dim() or not has_numbers(output):
            return False
        current.hold(name, output, given.shape[0] or 1)
        return True

    def goes_back_shortly(self) -> bool:
        """Take in a backward that follows the usual call; whether it does. To be told of it again changes nothing."""
        trained = self._current
        if trained is None or not trained.trained or len(self._open) != 1 or trained.losses > ENOUGH:
            return False
        self._current, self._served = None, self._loaders.served
        if trained.loader is not None:
            self._count(trained.loader)
        self._open.clear()
        return True

    def closes_shortly(self) -> bool:
        """Close a step where no pass is under way; whether none is."""
        self._current = None
        return not self._open

    def _switch(self, key: Key, module: nn.Module, model: Model, given: Any, frame: FrameType) -> EvaluationPass | None:
        """Return the pass of a key, a new one if need be; None for a forward that is something else."""
        known = self._open.get(key)
        if known is not None:
            return known
        if frame.f_code.co_name == RENEWAL:
            return None
        if key.grad_enabled and not key.training and differentiates(given):
            return None  # what is wanted is the gradient of the input: an attack, a picture of a feature
        loader = self._loaders.current if key.loader else None
        found = self._open[key] = EvaluationPass(key, loader, frame)
        if not found.looks_like_training:
            found.look_at(module, model)
        found.begin_with(*given)
        self.losses.listen(found)
        return found

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """End the passes before the forward that is trained."""
        if self.goes_back_shortly():  # as at every step of a plain loop
            return
        trained, self._current = self._current, None
        self._served = self._loaders.served
        if not self._open:
            return
        passes, self._open = self._open, {}
        for each in passes.values():
            if each is trained and each.key.grad_enabled:
                self._train(each, tensors)
            elif self._evaluates(each, trained):
                self._end(each)

    def _train(self, trained: EvaluationPass, loss: Any) -> None:
        """Take in that a backward followed; where it followed only the last of many, the others were a pass."""
        self._trained_at[trained.site] = None
        self._trained_through.update(dict.fromkeys(trained.lines))
        if trained.loader is not None:
            self._count(trained.loader)
        usual = self._usual.get(trained.key.model, 1)
        many = trained.losses > max(2 * usual, ENOUGH) and bool(trained.node)
        if many and nodes_named(loss, trained.node, MOST_NODES) < trained.losses // 2:
            trained.drop_last()
            self._end(trained)
            return
        if trained.losses > usual:
            self._usual[trained.key.model] = trained.losses
        trained.trained, self._usual_pass = True, trained

    def _count(self, loader: Loader) -> None:
        loader.trained += 1
        number = loader.record.dataset_number
        self._trained_on[number] = self._trained_on.get(number, 0) + 1

    def _evaluates(self, each: EvaluationPass, trained: EvaluationPass | None) -> bool:
        """Whether forwards that no backward followed, while it followed another one, are an evaluation."""
        if not each.key.grad_enabled:
            return True
        if trained is None or each.key.model != trained.key.model:  # a part of one loss, as of two networks
            return not each.key.training and each.forwards >= ENOUGH
        if not each.key.training:
            return trained.key.training
        if not trained.key.loader or each.key.loader == trained.key.loader:
            return False
        # Since a backward no batch was fetched; then came one, and the forward that is trained.
        return not each.key.loader or each.forwards >= ENOUGH

    def _evaluates_at_last(self, each: EvaluationPass) -> bool:
        """Whether forwards after the last backward are an evaluation, and not the step at which a loop was left."""
        if not each.looks_like_training:
            return True
        return bool(self._trained_at) and (each.forwards >= ENOUGH or each.site not in self._trained_at)

    def _end(self, done: EvaluationPass) -> None:
        """Hand over a pass that is over."""
        if self._recorder is None or not done.forwards:
            return
        key, means = done.key, done.means()
        values = {self._records.subject(name, key, site): value for (name, site), value in means.items()}
        model = next((each for each in self._cast.models if each.name == key.model), None)
        self._recorder.append("eval_batches", (done.forwards,), (key.model,))
        self._records.tell(
            self._recorder,
            done,
            model,
            subjects=tuple(values),
            trained_through=self._trained_through,
            trained_on=self._trains_on(done),
        )
        for subject, value in values.items():
            self._recorder.append("eval_loss", (value,), (subject,))
            for told in self.on_pass:
                told(subject, value, model)

    def _trains_on(self, done: EvaluationPass) -> bool:
        """Whether the same dataset object is trained on: a batch fetched before an evaluation may be mistaken."""
        if done.loader is None:
            return False
        times = self._trained_on.get(done.loader.record.dataset_number, 0)
        return times * ENOUGH > max(self._trained_on.values(), default=0)
