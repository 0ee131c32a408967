"""This file watches whether any backward of a run gives a gradient to anything that is trained."""

from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.analyses.cuts import ANYTHING, cuts_within, origin_first
from torchmagic.probes.cast import Cast
from torchmagic.probes.cut_places import Code, loss_cuts, place_made, place_of_cut
from torchmagic.probes.expressions import callee
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.losses import loss_name
from torchmagic.probes.pacing import FIRST_STEPS
from torchmagic.probes.sites import Site, place_of, site_of, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.records.connection import DetachedLossRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.genuine import attributes_of, is_tensor

# Names by which models are called that are remembered.
MOST_NAMES = 16
WITHOUT_GRAPH = "does not require grad"


# Ways named in which a tensor is made again of what was taken out of the graph.
MOST_AGAIN = 2


class Detached:
    """Records ``DetachedLossRecord`` once a run is over in which no backward reached anything.

    The first gradient that a parameter of a model or an optimizer is given ends the watch, and so does a step by hand.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._code = Code(cast.names)
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._connects = self._raised = False
        self._site: Site | None = None
        self._backwards = self._owned = 0
        self._classes: frozenset[str] = frozenset()
        self._calls: dict[tuple[int, int], str] = {}
        self._ran: dict[str, None] = {}
        self._with_graph: dict[str, None] = {}
        # Of each tensor that had a gradient as the last backward began: that gradient, and how often it was written.
        self._before: dict[int, tuple[int, int]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models that run and for backward passes."""
        self._recorder, self._taps = recorder, taps
        taps.on("root_begin", self._called)
        taps.on("root_end", self._returned)
        taps.on("backward_begin", self._begins)
        taps.on("backward_end", self._ends)
        taps.on("backward_error", self._fails)
        taps.on("update_end", self._stepped)

    def flush(self, step: int) -> None:
        """Rest for good once something has a gradient."""
        if not self._connects and step < FIRST_STEPS:
            found = _gradients(self._trained())
            self._connects = any(found[key][0] != self._before.get(key, (0, 0))[0] for key in found)
        if self._connects and self._taps is not None:
            self._taps.rest(self, until=NEVER)

    def detach(self) -> None:
        """Record what was found, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None and not self._connects and (self._backwards or self._raised):
            recorder.add(self._record())
        self._calls.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._connects or self._taps is None:
            return
        model = self._cast.model_of(module)
        if model is None:
            return
        if self._taps.grad_enabled:
            self._ran[model.name] = None
        user = user_frame(frame)
        if (
            user is not None
            and len(self._calls) < MOST_NAMES
            and (key := (id(user.f_code), user.f_lasti)) not in self._calls
        ):
            self._calls[key] = callee(user) or model.name
            self._code.learn_line(site_of(frame))
            self._code.learn(module)
            self._classes |= self._code.classes(module)

    def _returned(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        if self._connects or (model := self._cast.model_of(module)) is None or model.name in self._with_graph:
            return
        if any(is_tensor(each) and each.requires_grad for each in tree_leaves(_plain(output))):
            self._with_graph[model.name] = None

    def _begins(self, tensors: Any, frame: FrameType) -> None:
        if not self._connects:
            self._site = site_of(frame)
            self._code.learn_line(self._site)
            trained = self._trained()
            self._owned = max(self._owned, len({id(tensor) for tensor in self._taking_part() or trained}))
            self._before = _gradients(trained)

    def _ends(self, tensors: Any, nanoseconds: int) -> None:
        if not self._connects:
            self._backwards += 1
            self._connects = any(each != self._before.get(key) for key, each in _gradients(self._trained()).items())

    def _stepped(self, by_hand: Any, _: object) -> None:
        self._connects = True

    def _fails(self, tensors: Any, frame: FrameType, error: BaseException) -> None:
        self._raised = WITHOUT_GRAPH in str(error)

    def _taking_part(self) -> list[torch.Tensor]:
        """Return what can be trained of optimizers that stepped, and of models that ran."""
        refs: list[Any] = [ref for entry in self._cast.optimizers for ref in entry.refs]
        refs += [ref for model in self._cast.models for ref in model.parameters.values()]
        return _trainable([tensor for ref in refs if (tensor := ref()) is not None])

    def _trained(self) -> list[torch.Tensor]:
        """Return the same, and what optimizers hold that have a name: they may be those of other cells."""
        return [*self._taking_part(), *(tensor for tensors in self._beside().values() for tensor in tensors)]

    def _beside(self) -> dict[str, list[torch.Tensor]]:
        """Return what optimizers hold that have a name and did not step, by that name."""
        stepped = {id(entry.ref()) for entry in self._cast.optimizers}
        named = self._cast.names.of_kind(torch.optim.Optimizer)
        held = {
            name: _trainable([tensor for group in optimizer.param_groups for tensor in group["params"]])
            for name, optimizer in named
            if id(optimizer) not in stepped
        }
        return {name: tensors for name, tensors in held.items() if tensors}

    def _record(self) -> DetachedLossRecord:
        every = self._code.read()
        models = frozenset({*self._calls.values(), *self._ran}) or frozenset({ANYTHING})
        found = loss_cuts(every, models) or cuts_within(self._classes, every)
        cuts = origin_first([cut for cut in found if not (self._with_graph and cut.blind)])
        name = loss_name(self._site)
        return DetachedLossRecord(
            loss=name,
            backward=place_of(self._site),
            num_backwards=self._backwards,
            raised=self._raised,
            owned=self._owned,
            connected=tuple(self._with_graph),
            ran=tuple(self._ran),
            cut=place_of_cut(cuts[0] if cuts else None),
            how=cuts[0].how if cuts else "",
            again=tuple(dict.fromkeys(each.how for each in cuts if each.makes and not cuts[0].makes))[:MOST_AGAIN],
            made=place_made(every, name, self._site),
            beside=tuple(self._beside())[:MOST_NAMES],
        )


def _trainable(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor for tensor in tensors if tensor.requires_grad and tensor.is_leaf]


def _plain(output: Any) -> Any:
    """Return the fields of an output that is an object of its own class, such as a dataclass of tensors."""
    return output if is_tensor(output) or issubclass(type(output), dict) else attributes_of(output) or output


def _gradients(trained: list[torch.Tensor]) -> dict[int, tuple[int, int]]:
    """Return the gradients that there are; an earlier cell may have left some, which no backward reached now."""
    held = [(id(tensor), grad) for tensor in trained if (grad := tensor.grad) is not None]
    return {key: (id(grad), 0 if grad.is_inference() else grad._version) for key, grad in held}
