"""This file chooses the probes of what stands around a training: modes, hooks, leftovers, states and hidden calls."""

from collections.abc import Iterator

from torchmagic.debuggers.parts import Parts
from torchmagic.probes.cast import Cast
from torchmagic.probes.compiled_calls import CompiledCalls
from torchmagic.probes.first_statistics import FirstStatistics
from torchmagic.probes.global_modes import GlobalModes
from torchmagic.probes.graph_replays import GraphReplays
from torchmagic.probes.hooks import Hooks
from torchmagic.probes.leftovers import Leftovers
from torchmagic.probes.probe import Probe
from torchmagic.probes.states import States
from torchmagic.probes.taps import Taps


def surrounding_parts(parts: Parts, cast: Cast, taps: Taps) -> Iterator[Probe]:
    """Yield the probes of what stands around a training; they cost next to nothing, and every level has them.

    Args:
        parts: Where they are made.
        cast: The models and optimizers.
        taps: Through which they listen.
    """
    yield parts(GlobalModes)
    yield parts(CompiledCalls, cast, taps)
    yield parts(GraphReplays)
    yield parts(Hooks, cast)
    yield parts(Leftovers, cast)
    yield parts(States)
    yield parts(FirstStatistics, cast)
