"""This file tries whether a model sees what it is to predict: a sequence runs again with a later element changed.

Where the target at each place is the element that follows in the input, what is said of a place must not depend on what
comes after it. As for rows of a batch, the model is put into evaluation mode, and left as it was; where running it
again could be noticed, nothing is tried.
"""

import weakref
from contextlib import closing
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.analyses.mixing_lines import ATTENDING
from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.quiet_forwards import runs_quietly
from torchmagic.probes.row_comparison import MIN_CHANGE, MIN_SHARE, Pass, Run, line_inside, runs_of, tried, with_another
from torchmagic.probes.sites import place_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.structure import ForesightRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import tensors_in
from torchmagic.tensors.presence import is_regular

# Sequences that are run again, and the shortest that say something.
NUM_ROWS, SHORTEST = 2, 4
# Forwards of a model that are compared with their targets, and models that are tried.
MOST_COPIES, MOST_MODELS = 4, 4
# Of a sequence of vectors each element is one.
DIMS = (2, 3)
# What torch's losses ignore unless they are told otherwise.
IGNORED = -100
# In the first step of a run lazy parts are still being made.
FIRST_STEP, LAST_STEP = 1, 16


class _Seen(NamedTuple):
    """A training forward: the model, copies of the first sequences that it was given, and of targets beside them."""

    model: Model
    module: "weakref.ref[nn.Module]"
    rows: torch.Tensor
    targets: torch.Tensor | None


class Foresight:
    """Records ``ForesightRecord`` once for each model that predicts the next element of its input, and was tried.

    Args:
        cast: Models and optimizers that take part.
        taps: Where it rests once all was tried.
        pacer: Is told what a trial took.
    """

    def __init__(self, cast: Cast, taps: Taps, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._recorder: Recorder | None = None
        self._seen: _Seen | None = None
        self._copied: dict[str, int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models and for losses."""
        self._recorder = recorder
        taps.on("root_end", self._ran)
        taps.on("loss", self._lost)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Forget the step; rest once all models were tried, until there is another."""
        self._seen = None
        if step >= LAST_STEP:
            self._taps.rest(self, until=2 * step)

    def detach(self) -> None:
        """Let go of everything."""
        self._seen, self._recorder = None, None

    def _ran(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        model, self._seen = self._cast.model_of(module), None
        if model is None or self._recorder is None or not module.training or not torch.is_grad_enabled():
            return
        if self._recorder.step < FIRST_STEP or kwargs or len(args) not in (1, 2) or len(self._copied) > MOST_MODELS:
            return
        if self._copied.get(model.name, 0) >= MOST_COPIES or not all(map(is_regular, args)):
            return
        given = args[0]
        if given.dim() not in DIMS or given.shape[0] < NUM_ROWS or given.shape[1] < SHORTEST:
            return
        if (len(args) > 1 and args[1].shape != given.shape) or _by_place(output, given) is None:
            return
        self._copied[model.name] = self._copied.get(model.name, 0) + 1
        rows = [each.detach()[:NUM_ROWS].clone() for each in args]
        self._seen = _Seen(model, weakref.ref(module), rows[0], rows[1] if len(rows) > 1 else None)

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        """Compare what a model was given with the targets of the loss."""
        if (seen := self._seen) is not None and seen.targets is None:
            self._seen = None
            self._compare(seen, args[1] if len(args) > 1 else kwargs.get("target"), kwargs.get("ignore_index", IGNORED))

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """Compare what a model was given with targets that it was given as well."""
        if (seen := self._seen) is not None and seen.targets is not None:
            self._seen = None
            self._compare(seen, seen.targets, IGNORED)

    def _compare(self, seen: _Seen, target: Any, ignored: Any) -> None:
        module = seen.module()
        if module is None or self._recorder is None or not is_regular(target):
            return
        last = _last_predicted(seen.rows, target, ignored)
        if last is None:
            return
        self._copied[seen.model.name] = MOST_COPIES
        began = now()
        look = partial(_look, seen, module, self._recorder.step, last)
        record = tried(look) if runs_quietly(module) else None
        if record is not None:
            self._recorder.add(record)
        self._pacer.pay("foresight", now() - began)


def _by_place(output: Any, given: torch.Tensor) -> torch.Tensor | None:
    """Return what a model gave, or the first of several, by sequence and place; None where it is not known."""
    made = next(iter(tensors_in(output)), None)
    if made is None or not is_regular(made) or not made.dim() or not made.is_floating_point():
        return None
    samples, places = given.shape[:2]
    if made.dim() == 2 and made.shape[0] == samples * places:  # noqa: PLR2004 - places of all sequences, and classes
        return made.reshape(samples, places, -1)
    dims = [dim for dim in range(1, made.dim()) if made.shape[dim] == places]
    return made.movedim(dims[0], 1) if made.shape[0] == samples and len(dims) == 1 else None


def _last_predicted(rows: torch.Tensor, target: torch.Tensor, ignored: Any) -> int | None:
    """Return the last place of the first sequence that is a target; None where targets are not what follows."""
    first, places = rows[0], rows.shape[1]
    each = first[0].numel()
    for length in (places, places - 1):  # all places, of which the last one's target is not in the input, or one less
        wanted = target.detach().reshape(-1)[: length * each]
        if target.numel() % (length * each) or target.numel() < rows.shape[0] * length * each:
            continue
        own, following = wanted[: (places - 1) * each].reshape(first[1:].shape), first[1:]
        counts = own != ignored
        if own.dtype != following.dtype or not torch.equal(own[counts], following[counts]):
            continue
        by_place = counts.reshape(places - 1, -1).any(1)
        if int(by_place.sum()) >= SHORTEST - 1 and not torch.equal(first[1:], first[:-1]):
            return int(by_place.nonzero().max()) + 1
    return None


def _look(seen: _Seen, module: nn.Module, step: int, place: int) -> ForesightRecord | None:
    """Run sequences as they are, and with another element at one place of the first; None where all are the same."""
    first = with_another([seen.rows[0]], place)
    if first is None:
        return None
    beside = [] if seen.targets is None else [seen.targets]
    inputs = [[rows, *beside] for rows in (seen.rows, torch.stack([*first, *seen.rows[1:]]))]
    with closing(runs_of(module, inputs, keep=partial(_sums, places=seen.rows.shape[1]))) as running:
        plain, changed = running
    return _record(seen, step, place, plain, changed)


def _record(seen: _Seen, step: int, place: int, plain: Run, changed: Run) -> ForesightRecord | None:
    """Return what two runs tell, of which the second has another element at one place of the first sequence."""
    before, after = _by_place(plain.output, seen.rows), _by_place(changed.output, seen.rows)
    if before is None or after is None or before.shape != after.shape:
        return None
    moved = (before - after)[0].abs().reshape(seen.rows.shape[1], -1).amax(1)
    limit = max(MIN_CHANGE * float(before.abs().amax()), MIN_SHARE * float(moved[place:].amax()))
    earlier = moved[:place]
    num_changed = int((earlier > limit).sum())
    found = _first_to_see(plain.passes, changed.passes, place) if num_changed else None
    site = None if found is None else line_inside(found.module, ATTENDING) or found.site
    return ForesightRecord(
        model=seen.model.name,
        class_name=type(found.module).__name__ if found is not None else "",
        step=step,
        place_changed=place,
        num_earlier=place,
        num_changed=num_changed,
        change=float(earlier.amax()) / (max(float(moved[place:].amax()), limit) or 1.0),
        place=place_of(site),
    )


def _first_to_see(plain: list[Pass], changed: list[Pass], place: int) -> Pass | None:
    """Return the first call of a module that let a later element reach an earlier place."""
    calls = zip(plain, changed, strict=True) if len(plain) == len(changed) else ()  # what is routed may differ
    for one, two in calls:
        if _reaches_back(one.made, two.made, place) and not _reaches_back(one.given, two.given, place):
            return one
    return plain[-1] if plain else None  # the model itself, which ends last, between the layers that it calls


def _sums(tensor: torch.Tensor, *, places: int) -> torch.Tensor:
    """Return a sum for each place, so that little is kept of a large model; none of what has no such dimension."""
    dims = [dim for dim in range(tensor.dim()) if tensor.shape[dim] == places]
    if not dims:
        return torch.empty(0)
    values = tensor.detach().movedim(dims[0], 0).reshape(places, -1)
    return (values.abs() if values.is_complex() else values).sum(1, dtype=torch.float64)


def _reaches_back(before: list[torch.Tensor], after: list[torch.Tensor], place: int) -> bool:
    """Whether two sets of sums differ at a place before one."""
    pairs = zip(before, after, strict=False)
    return any(one.shape == two.shape and bool((one[:place] != two[:place]).any()) for one, two in pairs)
