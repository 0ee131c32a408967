"""This file is one part of a guarded step: some samples of the batch, and the backward of their loss."""

import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch

from torchmagic.guard.splitting import Piece


class Part:
    """Some samples of a batch, or all of them: ``with part as batch:`` around forward and ``part.backward(loss)``.

    Args:
        piece: The samples.
        share: What the loss is multiplied by before the backward.
        scale: Scales a loss for half precision; None without a scaler.
        takes: Takes what was raised inside and tells whether the guard does something about it.

    Attributes:
        batch: The samples, built as the whole batch is; None when the part is over.
        share: Share of these samples in the mean over the whole batch, above 0 and up to 1.
        num_samples: How many they are; None for a batch that cannot be cut.
    """

    def __init__(
        self,
        piece: Piece,
        *,
        share: float,
        scale: Callable[[torch.Tensor], torch.Tensor] | None,
        takes: Callable[[BaseException], bool],
    ) -> None:
        self.batch, self.share, self.num_samples = piece.batch, share, piece.num_samples
        self.losses: list[torch.Tensor] = []
        self.is_failed = False
        self._scale, self._takes = scale, takes
        self._is_open = self._is_over = False

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        """Go backward from the loss of these samples, by their share in the loss of the whole batch.

        Args:
            loss: One number with a graph: mean (or sum, as the guard was told) over these samples. Several losses of
                one part are added up.
            options: Of ``Tensor.backward``, such as ``retain_graph=True``.

        Raises:
            RuntimeError: If the part is not open, or what ``loss.backward()`` raises.
            TypeError: If it is no tensor with one element; one line.
        """
        if not self._is_open:
            raise RuntimeError("part.backward(loss) is for inside of `with part:`")
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            came = "×".join(map(str, loss.shape)) if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise TypeError(f"part.backward takes a loss with one element, {came} came; reduce it with .mean()")
        self.losses.append(loss.detach().reshape(()))
        shared = loss if self.share == 1 else loss * self.share
        (shared if self._scale is None else self._scale(shared)).backward(**options)  # type: ignore[no-untyped-call] # torch

    def check(self) -> None:
        """Raise if the part was not used as it has to be.

        Raises:
            RuntimeError: If nobody entered it, or went backward in it; one line.
        """
        if not self._is_over:
            raise RuntimeError("a part of a guarded step was not entered; write `with part as batch:` in the loop")
        if not self.losses and not self.is_failed:
            raise RuntimeError("a part of a guarded step had no backward; call part.backward(loss) in it")

    def let_go(self) -> None:
        """Forget samples and losses."""
        self.batch, self.losses = None, []

    def __enter__(self) -> Any:
        """Open the part.

        Returns:
            Its samples.
        """
        if self._is_over or self._is_open:
            raise RuntimeError("a part of a guarded step is entered once")
        self._is_open = True
        return self.batch

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Close the part; what the guard does something about goes no further."""
        self._is_open, self._is_over = False, True
        self.batch = None
        if error is None or not self._takes(error):
            return False
        self.is_failed = True
        traceback.clear_frames(trace)  # what the failed forward holds would be in memory beside the next attempt
        return True
