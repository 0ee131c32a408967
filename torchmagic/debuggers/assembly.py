"""This file is the assembly: which probes a run gets."""

from collections.abc import Mapping
from typing import Any

from torchmagic.debuggers.settings import Anomaly, Level, Settings
from torchmagic.probes.activations import Activations
from torchmagic.probes.batches import Batches
from torchmagic.probes.cast import Cast
from torchmagic.probes.categories import Categories
from torchmagic.probes.clearing import Clearing
from torchmagic.probes.criteria import Criteria
from torchmagic.probes.devices import Devices
from torchmagic.probes.early_stopping import EarlyStopping
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.headroom import Headroom
from torchmagic.probes.holders import Holders
from torchmagic.probes.inputs import Inputs
from torchmagic.probes.learning_rates import LearningRates
from torchmagic.probes.leaves import Leaves
from torchmagic.probes.loaders import Loaders
from torchmagic.probes.loss_scaling import LossScaling
from torchmagic.probes.losses import Losses
from torchmagic.probes.memory import Memory
from torchmagic.probes.mixed_precision import MixedPrecision
from torchmagic.probes.modes import Modes
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.ownership import Ownership
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import Probe
from torchmagic.probes.reach import Reach
from torchmagic.probes.rectifiers import Rectifiers
from torchmagic.probes.replay_wrappers import Detection
from torchmagic.probes.retained import Retained
from torchmagic.probes.snapshots import Snapshots
from torchmagic.probes.taps import Taps
from torchmagic.probes.timing import Timing
from torchmagic.probes.updates import Updates
from torchmagic.probes.validation import Validation
from torchmagic.probes.weights import Weights

# What the level expert measures at every step; what it sees beyond that keeps the pace of a budget. How large weights
# are changes by no more than their updates do, which are among these.
EVERY_STEP = frozenset({"gradients", "updates", "activations"})


def probes_for(settings: Settings, taps: Taps, namespace: Mapping[str, Any]) -> tuple[Probe, ...]:
    """Return the probes of a run, in the order in which they hear an event.

    Args:
        settings: What the user asked for.
        taps: Through which the probes listen.
        namespace: The user's names.
    """
    cast = Cast(namespace, only=settings.model)
    closely = settings.level is Level.EXPERT and settings.every is None
    pacer = Pacer(share=settings.budget_share, every=settings.every, always=EVERY_STEP if closely else frozenset())
    leaves = Leaves(taps)
    gradients = Gradients(cast, pacer) if settings.watches("gradients") else None
    chosen: list[Probe | None] = [
        cast,
        Timing(pacer, taps, records=settings.watches("performance")),
        *_data(settings, cast, taps, pacer, gradients),
        Losses() if settings.watches("backward") else None,
        Criteria(cast) if settings.watches("forward") else None,
        Modes(cast, taps),
        Clearing(cast) if settings.watches("gradients") else None,
        gradients,
        _nonfinite(settings, cast, taps, gradients),
        Ownership(cast) if settings.watches("gradients") else None,
        Weights(cast, pacer, gradients) if settings.watches("weights") else None,
        Updates(cast, pacer, gradients) if settings.watches("weights") else None,
        Rectifiers(cast, taps, leaves, pacer, chosen=settings.every is not None)
        if settings.watches("activations")
        else None,
        Activations(cast, taps, leaves, pacer) if settings.watches("activations") else None,
        Devices(cast) if settings.watches("device") else None,
        *_mixed_precision(settings, cast, taps, leaves, pacer),
        Reach(cast, pacer) if settings.watches("backward") else None,
        LearningRates(cast) if settings.watches("lr") else None,
        Memory() if settings.watches("memory") else None,
        Retained(cast, namespace) if settings.watches("memory") else None,
        Holders(namespace) if settings.watches("memory") else None,
        Categories(cast, pacer) if settings.watches("memory") and _looks_closely(settings) else None,
        Snapshots(cast) if settings.level is Level.EXPERT and settings.watches("weights") else None,
    ]
    return tuple(probe for probe in chosen if probe is not None)


def _data(settings: Settings, cast: Cast, taps: Taps, pacer: Pacer, gradients: Gradients | None) -> tuple[Probe, ...]:
    """Return the probes of batches and evaluations; an evaluation is known by its loader, and its end by its losses."""
    watches_data, watches_end = settings.watches("data"), settings.watches("early-stopping")
    if not (watches_data or watches_end or settings.watches("validation")):
        return ()
    loaders = Loaders(cast)
    found: list[Probe] = [loaders]
    if watches_data:
        found += [Batches(loaders, pacer, gradients), Inputs(cast, taps, pacer)]
    if watches_end or settings.watches("validation"):
        found.append(validation := Validation(cast, taps, loaders))
        if watches_end:
            found.append(EarlyStopping(validation))
    return tuple(found)


def _mixed_precision(settings: Settings, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> tuple[Probe, ...]:
    if not settings.watches("mixed-precision"):
        return ()
    precision = MixedPrecision(cast, taps, leaves)
    return precision, LossScaling(cast), Headroom(cast, precision, taps, leaves, pacer)


def _nonfinite(settings: Settings, cast: Cast, taps: Taps, gradients: Gradients | None) -> Nonfinite | None:
    chosen = settings.anomaly
    if chosen is Anomaly.OFF or not settings.watches("anomaly"):
        return None
    if chosen is Anomaly.DETECT or (chosen is None and settings.level is Level.EXPERT):
        taps.anomaly_detection = Detection.RAISES if chosen else Detection.REMEMBERS
    raises, warns, detects = (chosen is each for each in (Anomaly.RAISE, Anomaly.WARN, Anomaly.DETECT))
    return Nonfinite(cast, taps, gradients, raises=raises, warns=warns, detects=detects)


def _looks_closely(settings: Settings) -> bool:
    """Whether the level is one that tells what memory is used for."""
    return settings.level in (Level.ADVANCED, Level.EXPERT)
