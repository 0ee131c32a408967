"""This file is where a step began: buffers and streams of random numbers, so that the step can begin there again."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchmagic.models.streams import random_states

# Batch norm writes its statistics without counting a version; larger buffers are copied again only when they changed.
_SMALL = 1 << 16


class StepStart:
    """Keeps one copy of a model's buffers, and brings them and the random numbers back.

    Args:
        model: The model.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._owners: list[nn.Module] = []
        self._copies: dict[tuple[int, str], tuple[torch.Tensor, torch.Tensor, int]] = {}
        self._backs: list[Callable[[], Any]] = []
        self.look_again()

    def look_again(self) -> None:
        """Find the modules that have buffers: walking through a large model takes too long to be done in each step."""
        self._owners = [each for each in self._model.modules() if each._buffers]  # noqa: SLF001 - named_buffers walks
        there = {(id(owner), name) for owner in self._owners for name in owner._buffers}  # noqa: SLF001
        self._copies = {key: value for key, value in self._copies.items() if key in there}

    def note(self) -> None:
        """Remember where the step begins."""
        self._backs = list(random_states())
        for owner in self._owners:
            for name, buffer in owner._buffers.items():  # noqa: SLF001
                if buffer is not None and not buffer.is_meta:
                    self._keep((id(owner), name), buffer)

    def put_back(self) -> None:
        """Bring the buffers, and what comes of random numbers next, back to where the step began."""
        for owner in self._owners:
            for name in owner._buffers:  # noqa: SLF001
                kept = self._copies.get((id(owner), name))
                if kept is not None:
                    buffer, copied, _ = kept
                    buffer.detach().copy_(copied)
                    owner._buffers[name] = buffer  # noqa: SLF001 - a forward may have put another one there
        for back in self._backs:
            back()

    def forget(self) -> None:
        """Let go of the random numbers' states; the copies of buffers are kept for the next step."""
        self._backs = []

    @property
    def num_bytes(self) -> int:
        """Memory that the copies take."""
        return sum(copied.numel() * copied.element_size() for _, copied, _ in self._copies.values())

    def _keep(self, key: tuple[int, str], buffer: torch.Tensor) -> None:
        known, copied, version = self._copies.get(key, (None, None, -1))
        now = -1 if buffer.is_inference() else buffer._version  # noqa: SLF001 - torch's own counter has no other name
        plain = buffer.detach()
        if known is buffer and copied is not None and copied.shape == buffer.shape:
            if now < 0 or now != version or buffer.numel() <= _SMALL:
                copied.copy_(plain)
        else:
            copied = plain.clone()
        self._copies[key] = (buffer, copied, now)
