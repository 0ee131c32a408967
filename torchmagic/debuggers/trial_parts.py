"""This file is the parts of a run that run a model a second time, to see what depends on what in it."""

from collections.abc import Iterator

from torchmagic.debuggers.parts import Parts
from torchmagic.probes.cast import Cast
from torchmagic.probes.foresight import Foresight
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import Probe
from torchmagic.probes.row_mixing import RowMixing
from torchmagic.probes.taps import Taps


def trial_parts(make: Parts, cast: Cast, taps: Taps, pacer: Pacer) -> Iterator[Probe]:
    """Yield the probes that look at whether rows of a batch, and places of a sequence, stay apart."""
    yield make(RowMixing, cast, taps, pacer)
    yield make(Foresight, cast, taps, pacer)
