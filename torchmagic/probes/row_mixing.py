"""This file tries whether the rows of a batch stay apart: a few run again, once as they are, once with one changed.

The model is put into evaluation mode for it, so that neither batch norm nor dropout mixes rows or draws random numbers,
and left as it was. Where running it again could be noticed, nothing is tried.
"""

import weakref
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.analyses import mixing_lines
from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.quiet_forwards import runs_quietly
from torchmagic.probes.row_comparison import mixed_rows
from torchmagic.probes.sites import place_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.structure import MixedRowsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable, tensors_in
from torchmagic.tensors.presence import is_regular

# Rows that are run again: few, and of a number that no other dimension has.
NUM_ROWS = (5, 6, 7, 9, 11)
# Trials a model, and models tried.
MOST_TRIALS, MOST_MODELS = 1, 4
# What takes vectors for the steps of one sequence.
SEQUENTIAL = tuple(getattr(nn, name) for name in mixing_lines.SEQUENTIAL)
# Rows are copied before a loss tells whether they are samples; of a model whose losses never tell, so many times.
MOST_COPIES = 4
# In the first step of a run lazy parts are still being made.
FIRST_STEP, LAST_STEP = 1, 16


class _Seen(NamedTuple):
    """A training forward: the model, a copy of the first rows that it was given, and the whole shape of these."""

    model: Model
    module: "weakref.ref[nn.Module]"
    rows: list[torch.Tensor]
    shape: torch.Size


class RowMixing:
    """Records ``MixedRowsRecord`` where an output row changes because another row of the batch did."""

    def __init__(self, cast: Cast, taps: Taps, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._recorder: Recorder | None = None
        self._seen: _Seen | None = None
        self._trials: dict[str, int] = {}
        self._copied: dict[str, int] = {}
        self._last: dict[str, weakref.ref[torch.Tensor]] = {}
        self._rows_loaded = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for batches, calls of models and losses."""
        self._recorder = recorder
        taps.on("batch", self._load)
        taps.on("root_end", self._ran)
        taps.on("loss", self._lost)

    def flush(self, step: int) -> None:
        """Forget the step; rest once all models were tried, until there is another."""
        self._seen, self._rows_loaded = None, 0
        if step >= LAST_STEP:
            self._taps.rest(self, until=2 * step)

    def detach(self) -> None:
        """Let go of everything."""
        self._seen, self._recorder = None, None

    def _load(self, loader: Any, batch: Any, nanoseconds: int) -> None:
        """Remember how many rows a loader gave, where it put them together as loaders do."""
        rows = {tensor.shape[0] if is_regular(tensor) and tensor.dim() else 0 for tensor in tensors_in(batch)}
        plain = getattr(loader, "_collate_fn", None) is torch.utils.data.default_collate
        self._rows_loaded = rows.pop() if plain and len(rows) == 1 else 0

    def _ran(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        model, self._seen = self._cast.model_of(module), None
        if model is None or self._recorder is None or not module.training or not torch.is_grad_enabled():
            return
        if self._trials.get(model.name, 0) >= MOST_TRIALS or len(self._trials) > MOST_MODELS or kwargs:
            return
        given = [each for each in args if is_regular(each)]
        if len(given) != len(args) or not given or not _are_rows(given, output):
            return
        before, self._last[model.name] = self._last.get(model.name), weakref.ref(given[0])
        flat = given[0].dim() <= 2 and given[0].is_floating_point()  # noqa: PLR2004 - a row is a vector
        if self._recorder.step < FIRST_STEP or (flat and before and before() is given[0] and not self._rows_loaded):
            return  # vectors that are the same at each step may be the nodes of one graph
        number = next((each for each in NUM_ROWS if not any(each in tensor.shape[1:] for tensor in given)), 0)
        copied = self._copied[model.name] = self._copied.get(model.name, 0) + 1
        if 0 < number <= given[0].shape[0] and copied <= MOST_COPIES:
            rows = [each.detach()[:number].clone() for each in given]
            self._seen = _Seen(model, weakref.ref(module), rows, given[0].shape)

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        seen, self._seen = self._seen, None
        if seen is None or self._recorder is None:
            return
        target = args[1] if len(args) > 1 else kwargs.get("target")
        module = seen.module()
        if module is None or not is_regular(target) or not target.dim():
            return
        if not self._are_samples(seen.shape, target, args[0] if args else kwargs.get("input")):
            return
        self._trials[seen.model.name] = self._trials.get(seen.model.name, 0) + 1
        began = now()
        found = mixed_rows(module, seen.rows) if runs_quietly(module) else None
        if found is not None and not (self._may_be_steps(seen.rows) and isinstance(found.module, SEQUENTIAL)):
            path = self._cast.path_of(found.module) or seen.model.name
            self._recorder.add(
                MixedRowsRecord(
                    model=seen.model.name,
                    module=path,
                    step=self._recorder.step,
                    num_rows=found.num_rows,
                    num_changed=found.num_changed,
                    change=found.change,
                    place=place_of(found.site),
                )
            )
        self._pacer.pay("row mixing", now() - began)

    def _may_be_steps(self, rows: list[torch.Tensor]) -> bool:
        """Whether no loader put the rows together, and each is a class or a vector: words of one sentence, perhaps."""
        return not self._rows_loaded and all(each.dim() <= 1 + each.is_floating_point() for each in rows)

    def _are_samples(self, shape: torch.Size, target: torch.Tensor, scored: Any) -> bool:
        """Whether the first dimension is that of the samples, and not of the time, as it may be for a sequence."""
        rows = shape[0]
        if self._rows_loaded == rows:
            return True
        one_each = target.shape[0] == rows and target.numel() == rows
        scores = is_regular(scored) and 1 <= scored.dim() <= 2 and scored.shape[0] == rows  # noqa: PLR2004 - rows and classes
        return one_each and scores and rows not in shape[1:]


def _are_rows(given: list[torch.Tensor], output: Any) -> bool:
    rows = given[0].shape[0] if given[0].dim() else 0
    if rows < NUM_ROWS[0] or any(not each.dim() or each.shape[0] != rows for each in given):
        return False
    if any(rows in each.shape[1:2] for each in given[1:]):  # an adjacency matrix joins rows on purpose
        return False
    if not readable(output) or not output.dim() or output.shape[0] != rows:
        return False
    return not (output.dim() == 2 and output.shape[1] == rows)  # noqa: PLR2004 - similarities of all pairs
