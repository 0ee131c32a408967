"""This file measures reach: which parameters the graph above a loss ends at, and which it leaves out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.flat_operators import flat_operators
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.graph_walk import RECOMPUTING, custom, leaves, roots, walk
from torchmagic.probes.losses import loss_name
from torchmagic.probes.members import Model, present
from torchmagic.probes.pacing import FIRST_STEPS, Pacer, next_look
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.reach import ReachRecord
from torchmagic.session.recorder import Recorder

# Names in one record.
MOST_NAMES = 64
# So many optimizers are a few phases; more are a search.
MOST_OPTIMIZERS = 8
# Lines with a backward that are told apart.
MOST_SITES = 64

# Takes what backward was called on, the nodes above it, and the leaves these end at.
Looker = Callable[[Sequence[torch.Tensor], Sequence[Any], Sequence[torch.Tensor], FrameType], None]


class Reach:
    """Records ``ReachRecord`` at the first backward of each line, and where it has changed.

    For that it looks at powers of two, and once there is a new optimizer.

    A graph that is too large to be walked is not told of.

    Args:
        cast: Models and optimizers that take part.
        pacer: Says when a known line may be looked at again.
        gradients: Knows whether the gradients before were all zero; only then are factors looked for that are.
    """

    def __init__(self, cast: Cast, pacer: Pacer, gradients: Gradients) -> None:
        self._cast, self._pacer, self._gradients = cast, pacer, gradients
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._ran: set[Model] = set()
        self._num_optimizers = 0
        self._known: dict[Any, ReachRecord | None] = {}
        self._codes: dict[Any, CodeType] = {}  # held, so that no other gets their identities
        self._pending: set[Any] | None = None
        self.lookers: list[Looker] = []  # other probes that want to see each graph that is walked

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models that run, and for backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._called)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Forget which models ran, and decide whether known lines are looked at again in the next step."""
        self._ran.clear()
        following = step + 1
        again = self._has_other_optimizers(step) or (following & (following - 1) == 0 and self._pacer.wants("reach"))
        self._pending = set(self._known) if again else None
        if not again and self._taps is not None and step >= FIRST_STEPS:
            self._taps.rest(self, until=next_look(step) - 1)  # awake one step early, to decide about the next

    def _has_other_optimizers(self, step: int) -> bool:
        """Whether an optimizer has come since this was asked: another phase of a training, told of the first ones."""
        before, self._num_optimizers = self._num_optimizers, len(self._cast.optimizers)
        return step >= FIRST_STEPS and before < self._num_optimizers <= MOST_OPTIMIZERS

    def detach(self) -> None:
        """Let go of everything."""
        self._ran.clear()
        self._known.clear()
        self._codes.clear()

    def _called(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.current
        if model is not None and self._taps is not None and self._taps.grad_enabled:
            self._ran.add(model)

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if self._taps is None or self._taps.depth:  # inside another backward, as activation checkpointing has it
            return
        caller = frame.f_back if frame.f_code.co_name == "backward" else None  # ``Tensor.backward`` stands between
        caller = caller or frame
        key = (id(caller.f_code), caller.f_lasti)  # a code object itself is dear to hash
        if key in self._known:
            if self._pending is None or key not in self._pending:
                return
            self._pending.discard(key)
        elif len(self._known) >= MOST_SITES:
            return
        began = now()
        self._codes[key] = caller.f_code
        known = self._known.get(key)
        record = self._measure(tensors, frame)
        if record is not None and self._recorder is not None and not _same(record, known):
            self._known[key] = record
            self._recorder.add(record)
        else:
            self._known.setdefault(key, None)
        self._pacer.pay("reach", now() - began)

    def _measure(self, tensors: Any, frame: FrameType) -> ReachRecord | None:
        graph = walk(tensors)
        if not graph.complete or self._recorder is None:
            return None
        found = [*leaves(graph.nodes), *(each for each in roots(tensors) if each.is_leaf and each.requires_grad)]
        for look in self.lookers:
            look(roots(tensors), graph.nodes, found, frame)
        ends = {id(leaf) for leaf in found}
        opaque = custom(graph.nodes)
        parts = [(model, *_parts(model, ends)) for model in self._models()]
        touched = [(model, unreached, frozen) for model, reached, unreached, frozen in parts if reached]
        hidden = any(name in RECOMPUTING for name in opaque)
        unreached = [] if hidden else [name for _, names, _ in touched for name in names]
        frozen = [name for _, _, names in touched for name in names]
        reached = len(ends & self._parameters())
        # a leaf that is no model's may stand for a model's own, as under ``torch.func.functional_call``
        certain = not hidden and len(ends) == sum(len(names) for _, names, _, _ in parts)
        idle = [model.name for model, names, left, _ in parts if left and not names and model in self._ran]
        site = site_of(frame)
        flat = flat_operators(tensors, graph.nodes, factors=self._gradients.total == 0.0)
        flattened = self._names(flat.behind) if len(flat.behind) < len(ends) else ()
        return ReachRecord(
            loss=loss_name(site),
            place=place_of(site),
            step=self._recorder.step,
            has_graph=bool(graph.nodes or ends),
            num_nodes=len(graph.nodes),
            num_reached=reached,
            models=tuple(model.name for model, _, _ in touched),
            unreached=tuple(unreached[:MOST_NAMES]),
            num_unreached=len(unreached),
            frozen=tuple(frozen[:MOST_NAMES]),
            num_frozen=len(frozen),
            untouched=tuple(idle) if certain else (),
            num_other_leaves=len(ends) - reached,
            opaque=tuple(sorted(opaque)),
            flat=flat.operators if flattened or len(flat.behind) == len(ends) else (),
            flattened=flattened[:MOST_NAMES],
        )

    def _models(self) -> Iterable[Model]:
        return [model for model in present(self._cast.models) if model.ref() is not None]

    def _names(self, tensors: Sequence[torch.Tensor]) -> tuple[str, ...]:
        """Return the names of those tensors that are parameters of models, or that optimizers step."""
        wanted = {id(each) for each in tensors}
        known = self._cast.at_work.stepped | self._cast.known() if wanted else {}
        return tuple(name for identity, name in known.items() if identity in wanted)

    def _parameters(self) -> set[int]:
        """Return the identities of all parameters that are known, of models or of optimizers."""
        refs: list[Any] = [ref for model in present(self._cast.models) for ref in model.parameters.values()]
        refs += [ref for entry in present(self._cast.optimizers) for ref in entry.refs]
        return {id(tensor) for ref in refs if (tensor := ref()) is not None}


def _parts(model: Model, ends: set[int]) -> tuple[list[str], list[str], list[str]]:
    """Return the names of a model's parameters that are reached, that are not, and that are frozen."""
    reached: list[str] = []
    unreached: list[str] = []
    frozen: list[str] = []
    for name, ref in model.parameters.items():
        parameter = ref()
        if parameter is None:
            continue
        names = reached if id(parameter) in ends else unreached if parameter.requires_grad else frozen
        names.append(name)
    return reached, unreached, frozen


def _same(record: ReachRecord, known: ReachRecord | None) -> bool:
    """Whether two records say the same of different steps."""
    return known is not None and replace(record, step=known.step, num_nodes=known.num_nodes) == known
