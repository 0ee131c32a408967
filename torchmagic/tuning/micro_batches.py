"""This file is a forward in micro-batches: rows are run a few at a time, and the outputs joined.

It is used only where the outputs were seen to be the same: not with batch norm in training, nor with dropout, nor where
the first dimension is something else than rows. The loss is computed of all rows, so any loss will do.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from torchmagic.tuning.batches import pieces_of, rows_of
from torchmagic.tuning.checkpointing import buffers_now, scratch_buffers
from torchmagic.tuning.streams import random_streams

# Outputs of the same row in a batch of another size may differ by the order of sums.
_ROUNDINGS = 64


class MicroBatched:
    """A forward that is run in pieces where that gives the same.

    Args:
        model: The model, for its modes and buffers.
        whole: Runs it on a whole batch.
        piece: Runs it on a piece.
        number: How many pieces.
        told: Called once with whether pieces are used, when that is known.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        whole: Callable[..., Any],
        piece: Callable[..., Any],
        number: int,
        told: Callable[[bool], None],
    ) -> None:
        self._model, self._whole, self._piece, self._number, self._told = model, whole, piece, number, told
        self._known: dict[Any, bool] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model; takes and returns what it does."""
        rows = rows_of((args, kwargs))
        if rows is None or rows < self._number or not torch.is_grad_enabled():
            return self._whole(*args, **kwargs)
        key = self._kind(args, kwargs)
        if key not in self._known:
            outputs = self._whole(*args, **kwargs)
            self._known[key] = self._is_same(outputs, args, kwargs)
            self._told(self._known[key])
            return outputs
        return self._joined(args, kwargs) if self._known[key] else self._whole(*args, **kwargs)

    def _kind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        modes = tuple(each.training for each in self._model.modules())
        return tuple((each.shape[1:], each.dtype) for each in tensors), modes

    def _is_same(self, outputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        streams = random_streams()
        try:
            with scratch_buffers(buffers_now(self._model)):
                joined = self._joined(args, kwargs)
        except (ValueError, RuntimeError):  # outputs that cannot be joined, or a model that wants its whole batch
            return False
        finally:
            streams()
        return _are_close(outputs, joined)

    def _joined(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pieces = pieces_of((args, kwargs), self._number)
        outputs = [self._piece(*some, **named) for some, named in pieces]
        flat = [tree_flatten(each) for each in outputs]
        leaves, form = flat[0]
        joined = [_joined([each[0][i] for each in flat], pieces) for i in range(len(leaves))]
        return tree_unflatten(joined, form)


def _joined(values: list[Any], pieces: list[Any]) -> torch.Tensor:
    """Return one output of all pieces.

    Raises:
        ValueError: If it is none that has a row for each of the batch.
    """
    for value, piece in zip(values, pieces, strict=True):
        if not isinstance(value, torch.Tensor) or not value.ndim or value.shape[0] != rows_of(piece):
            raise ValueError("an output has no row for each row of the batch")
    return torch.cat(values)


def _are_close(one: Any, other: Any) -> bool:
    pairs = list(zip(tree_leaves(one), tree_leaves(other), strict=False))
    return len(tree_leaves(one)) == len(tree_leaves(other)) and all(_is_close(*pair) for pair in pairs)


def _is_close(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    one, other = one.detach(), other.detach()
    scale = float(one.abs().nan_to_num(0.0, 0.0, 0.0).amax()) if one.numel() else 0.0
    bound = _ROUNDINGS * torch.finfo(one.dtype).eps
    return torch.allclose(one, other, rtol=bound, atol=bound * scale, equal_nan=True)
