"""This file is the assembly: which probes a run gets."""

from collections.abc import Callable, Mapping
from typing import Any

from torchmagic.debuggers.settings import Anomaly, Level, Settings
from torchmagic.probes.activations import Activations
from torchmagic.probes.cast import Cast
from torchmagic.probes.clearing import Clearing
from torchmagic.probes.criteria import Criteria
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.loaders import Loaders
from torchmagic.probes.losses import Losses
from torchmagic.probes.memory import Memory
from torchmagic.probes.modes import Modes
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.ownership import Ownership
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import Probe
from torchmagic.probes.taps import Taps
from torchmagic.probes.timing import Timing
from torchmagic.probes.weights import Weights


def probes_for(
    settings: Settings, taps: Taps, namespace: Mapping[str, Any], spent: Callable[[], int]
) -> tuple[Probe, ...]:
    """Return the probes of a run, in the order in which they hear an event.

    Args:
        settings: What the user asked for.
        taps: Through which the probes listen.
        namespace: The user's names.
        spent: Tells the nanoseconds spent inside torchmagic so far.
    """
    cast = Cast(namespace, only=settings.model)
    every = 1 if settings.level is Level.EXPERT and settings.every is None else settings.every
    pacer = Pacer(share=settings.budget_share, every=every)
    gradients = Gradients(cast, pacer) if settings.watches("gradients") else None
    chosen: list[Probe | None] = [
        cast,
        Timing(pacer, spent, records=settings.watches("performance")),
        Loaders(cast) if settings.watches("data") else None,
        Losses() if settings.watches("backward") else None,
        Criteria(cast) if settings.watches("forward") else None,
        Modes(cast, taps),
        Clearing(cast) if settings.watches("gradients") else None,
        gradients,
        _nonfinite(settings, cast, taps, gradients),
        Ownership(cast) if settings.watches("gradients") else None,
        Weights(cast, pacer) if settings.watches("weights") else None,
        Activations(cast, taps, pacer) if settings.watches("activations") else None,
        Memory() if settings.watches("memory") else None,
    ]
    return tuple(probe for probe in chosen if probe is not None)


def _nonfinite(settings: Settings, cast: Cast, taps: Taps, gradients: Gradients | None) -> Nonfinite | None:
    if settings.anomaly is Anomaly.OFF or not settings.watches("anomaly"):
        return None
    raises, warns = settings.anomaly is Anomaly.RAISE, settings.anomaly is Anomaly.WARN
    return Nonfinite(cast, taps, gradients, raises=raises, warns=warns)
