"""This file tells where a rank's random generators stand, so that equal streams on several ranks can be known."""

import random
from types import FrameType
from typing import Any

import numpy as np
import torch

from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.ranks import RandomStateRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.checksum import checksums, digits

NEVER = 1 << 62


class RankRandomness:
    """Records ``RandomStateRecord`` as it begins to listen, and before the first forward that learns."""

    flush = nothing_waits

    def __init__(self) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Read the generators, and listen for the first forward."""
        self._taps, self._recorder = taps, recorder
        recorder.add(random_state("start"))
        taps.on("root_begin", self._called)

    def detach(self) -> None:
        """Let go."""
        self._taps = self._recorder = None

    def _called(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._taps is not None and self._recorder is not None and self._taps.grad_enabled:
            self._recorder.add(random_state("first forward"))
            self._taps.rest(self, until=NEVER)
            self._recorder = None


def random_state(moment: str) -> RandomStateRecord:
    """Return where this process's generators stand; they are read, not moved."""
    _, words, place, *_ = np.random.get_state()  # noqa: NPY002 - the user's global stream
    cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call] # torch
    return RandomStateRecord(
        moment=moment,
        seed=torch.initial_seed(),
        torch=checksums([torch.get_rng_state()])[0],
        numpy=digits(np.asarray(words).tobytes() + str(place).encode()),
        python=digits(repr(random.getstate()).encode()),
        device=checksums([torch.cuda.get_rng_state()])[0] if cuda else "",
    )
