"""This file is the shared rows: rows that are evaluated and were trained on, known by what their bits add up to."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from torchmagic.probes.loaders import Loader
from torchmagic.probes.sites import Site, place_of
from torchmagic.records.feeding import SharedRowsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.rows import row_prints

# Rows looked at in a batch, rows remembered of the training, and of each evaluation.
MOST_ROWS, MOST_TRAINED, MOST_EVALUATED = 4096, 4096, 4096
# A row of so few columns with so few different values is equal to others by chance.
FEW_COLUMNS, FEW_VALUES = 32, 32
# Evaluations of a model that are told apart.
MOST_KINDS = 8


class _Evaluated:
    """Rows of one evaluation: a loader's, or those that one line gives; which of them were trained on before it.

    States that a policy tries and then learns from are trained on only afterwards.
    """

    def __init__(self, loader: Loader | None, site: Site | None) -> None:
        self.loader, self.site = loader, site
        self.prints: set[int] = set()
        self.equal: set[int] = set()


class _Kind(NamedTuple):
    loader: str
    site: Site | None


class SharedRows:
    """The rows that one model was trained on and evaluated on."""

    def __init__(self) -> None:
        self._trained: set[int] = set()
        self._batch = self._total = 0
        self._datasets: set[int] = set()
        self._evaluated: dict[_Kind, _Evaluated] = {}
        self._coarse = False

    def train(self, loader: Loader | None, tensors: Sequence[torch.Tensor]) -> None:
        """Take in a batch that is trained on: all that the model is given makes a row."""
        tensor = tensors[0]
        self._batch = max(self._batch, tensor.shape[0]) if tensor.dim() else self._batch
        if loader is not None:
            self._datasets.add(loader.record.dataset_number)
            self._total = max(self._total, loader.record.num_samples or 0)
        elif tensor.dim() and tensor.shape[0] > MOST_ROWS:
            self._total = max(self._total, tensor.shape[0])
        if len(self._trained) < MOST_TRAINED:
            found = _prints(tensors)
            if found and not self._trained:
                self._coarse = all(_is_coarse(each) for each in _with_rows(tensors))
            self._trained.update(found)

    def evaluate(self, loader: Loader | None, tensors: Sequence[torch.Tensor], site: Site | None) -> None:
        """Take in a batch that is evaluated; one that no loader gives only where it is more than a batch."""
        tensor = tensors[0]
        if not self._trained or (loader is None and tensor.dim() and tensor.shape[0] <= self._batch):
            return  # before any training, or the batch that is trained on, once more
        kind = _Kind(loader.name if loader is not None else "", None if loader is not None else site)
        known = self._evaluated.get(kind)
        if known is None:
            if len(self._evaluated) >= MOST_KINDS:
                return
            known = self._evaluated[kind] = _Evaluated(loader, site)
        if len(known.prints) < MOST_EVALUATED:
            prints = _prints(tensors)
            known.prints.update(prints)
            known.equal.update(self._trained.intersection(prints))

    def tell(self, model: str, recorder: Recorder) -> None:
        """Record each evaluation of a dataset that is not the one trained on."""
        if not self._trained:
            return
        for kind, each in self._evaluated.items():
            if not each.prints or (each.loader is not None and each.loader.record.dataset_number in self._datasets):
                continue
            equal = len(each.equal)
            recorder.add(
                SharedRowsRecord(
                    model=model,
                    loader=kind.loader,
                    num_rows=len(each.prints),
                    num_equal=equal,
                    num_known=len(self._trained),
                    num_training=self._total,
                    coarse=self._coarse,
                    covered=equal / len(self._trained),
                    place=place_of(each.site),
                )
            )


def _with_rows(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the tensors that have as many rows as the first."""
    first = tensors[0]
    return [each for each in tensors if each.shape[:1] == first.shape[:1]]


def _prints(tensors: Sequence[torch.Tensor]) -> list[int]:
    """Return a number for each row of several tensors together."""
    columns = [row_prints(each, MOST_ROWS) for each in _with_rows(tensors)]
    return columns[0] if len(columns) == 1 else [hash(row) for row in zip(*columns, strict=True)]


def _is_coarse(tensor: torch.Tensor) -> bool:
    """Whether rows are equal to others by chance, or as a user comes with another item: one whole number each."""
    columns = tensor[0].numel()
    if columns == 1 and not tensor.is_floating_point():
        return True
    return columns <= FEW_COLUMNS and _num_values(tensor) <= FEW_VALUES


def _num_values(tensor: torch.Tensor) -> int:
    """Return how many different values a batch holds, of its first rows."""
    return int(torch.unique(tensor.detach()[:MOST_ROWS]).numel())
