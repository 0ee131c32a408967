"""This file is the facts about batches: each new kind of tensor, its values, and how its classes are spread."""

from collections.abc import Sequence

import torch

from torchmagic.records.data import BatchRecord, ClassCountsRecord, Source
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import class_counts, has_values, layout_of, values_of

# Kinds of one tensor (dtype, shape of a sample, layout, device) that are told; text comes in every length.
MOST_KINDS = 8
# A batch of so many classes is a poor sample of more.
FEW_CLASSES = 2
# Class targets are a row, or a column.
MOST_TARGET_DIMS = 2
STATISTICS = ("low", "high", "mean", "std")


class _Classes:
    """Class targets of one field, over the batches that were looked at."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.in_batch: list[int] = []
        self.in_order = 0
        self._last = 0

    def add(self, counts: list[int]) -> None:
        longer = max(len(counts), len(self.counts))
        padded = [each + [0] * (longer - len(each)) for each in (self.counts, counts)]
        self.counts = [mine + theirs for mine, theirs in zip(*padded, strict=True)]
        found = [number for number, count in enumerate(counts) if count]
        self.in_order += bool(self.in_batch) and min(found, default=0) >= self._last
        self._last = max(found, default=0)
        self.in_batch.append(len(found))


class Facts:
    """Tells what is new of the tensors of batches, and appends their values.

    A row of ``batch_low``, ``batch_high``, ``batch_mean`` and ``batch_std`` a batch, with a subject a tensor such as
    ``train[0]``; ``batch_classes`` is how many classes are in the batch.

    Args:
        source: Where the batches are seen.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kinds: dict[tuple[str, str], set[tuple[object, ...]]] = {}
        self._classes: dict[tuple[str, str], _Classes] = {}

    def look(
        self,
        recorder: Recorder,
        name: str,
        fields: Sequence[tuple[str, torch.Tensor]],
        *,
        training: bool = True,
    ) -> list[tuple[str, torch.Tensor]]:
        """Record what one batch holds; return the tensors in which something is not finite."""
        subjects, rows, bad = [], [], []
        for field, tensor in fields:
            if not has_values(tensor):
                continue
            values = values_of(tensor)
            subjects.append(f"{name}[{field}]" if field else name)
            rows.append(values[:4])
            if values.nonfinite:
                bad.append((field, tensor))
            if self._is_new(name, field, tensor):
                recorder.add(
                    BatchRecord(
                        source=self._source,
                        name=name,
                        field=field,
                        step=recorder.step,
                        shape=tuple(tensor.shape),
                        dtype=str(tensor.dtype).removeprefix("torch."),
                        layout=layout_of(tensor),
                        device=str(tensor.device),
                        low=values.low,
                        high=values.high,
                        mean=values.mean,
                        std=values.std,
                        training=training,
                    )
                )
        for metric, column in zip(STATISTICS, zip(*rows, strict=True), strict=bool(rows)):
            recorder.append(f"batch_{metric}", column, subjects)
        return bad

    def count_classes(self, recorder: Recorder, name: str, fields: Sequence[tuple[str, torch.Tensor]]) -> None:
        """Count the classes of the tensors that are class targets."""
        for field, value in fields:
            if not has_values(value) or value.dim() > MOST_TARGET_DIMS:
                continue
            counts = class_counts(value)
            if counts is not None:
                known = self._classes.setdefault((name, field), _Classes())
                known.add(counts)
                recorder.append("batch_classes", (known.in_batch[-1],), (f"{name}[{field}]" if field else name,))

    def tell_classes(self, recorder: Recorder) -> None:
        """Record what was counted."""
        for (name, field), known in self._classes.items():
            total = sum(1 for count in known.counts if count)
            few = min(FEW_CLASSES, total - 1)
            recorder.add(
                ClassCountsRecord(
                    source=self._source,
                    name=name,
                    field=field,
                    num_batches=len(known.in_batch),
                    num_few=sum(1 for number in known.in_batch if number <= few),
                    counts={str(i): count for i, count in enumerate(known.counts) if count},
                    num_in_order=known.in_order,
                )
            )
        self._classes = {}

    def _is_new(self, name: str, field: str, tensor: torch.Tensor) -> bool:
        kinds = self._kinds.setdefault((name, field), set())
        kind = (tensor.dtype, tensor.shape[1:], tensor.layout, tensor.device, tensor.is_contiguous())
        if kind in kinds or len(kinds) >= MOST_KINDS:
            return False
        kinds.add(kind)
        return True
