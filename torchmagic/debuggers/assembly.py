"""This file is the assembly: which probes a run gets."""

from collections.abc import Mapping
from typing import Any

from torchmagic.debuggers.settings import Anomaly, Level, Settings
from torchmagic.probes.accumulation import Accumulation
from torchmagic.probes.activations import Activations
from torchmagic.probes.awake_dropout import AwakeDropout
from torchmagic.probes.batches import Batches
from torchmagic.probes.cast import Cast
from torchmagic.probes.categories import Categories
from torchmagic.probes.clearing import Clearing
from torchmagic.probes.clipping import Clipping
from torchmagic.probes.crashes import Crashes
from torchmagic.probes.criteria import Criteria
from torchmagic.probes.detached import Detached
from torchmagic.probes.devices import Devices
from torchmagic.probes.differences import Differences
from torchmagic.probes.early_stopping import EarlyStopping
from torchmagic.probes.equal_units import EqualUnits
from torchmagic.probes.first_layers import FirstLayers
from torchmagic.probes.frozen_output import FrozenOutput
from torchmagic.probes.global_modes import GlobalModes
from torchmagic.probes.gradient_uses import GradientUses
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.gradless import Gradless
from torchmagic.probes.headroom import Headroom
from torchmagic.probes.holders import Holders
from torchmagic.probes.hooks import Hooks
from torchmagic.probes.host_reads import HostReads
from torchmagic.probes.inputs import Inputs
from torchmagic.probes.learning_rates import LearningRates
from torchmagic.probes.leaves import Leaves
from torchmagic.probes.leftovers import Leftovers
from torchmagic.probes.lives import Lives
from torchmagic.probes.loaders import Loaders
from torchmagic.probes.loop_order import LoopOrder
from torchmagic.probes.loss_inputs import LossInputs
from torchmagic.probes.loss_scaling import LossScaling
from torchmagic.probes.losses import Losses
from torchmagic.probes.memory import Memory
from torchmagic.probes.mixed_precision import MixedPrecision
from torchmagic.probes.modes import Modes
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.objectives import Objectives
from torchmagic.probes.optimizer_groups import BuildingSites, OptimizerGroups
from torchmagic.probes.ownership import Ownership
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.predictions import Predictions
from torchmagic.probes.probe import Probe
from torchmagic.probes.producers import Producers
from torchmagic.probes.reach import Reach
from torchmagic.probes.rebuilding import Rebuilding
from torchmagic.probes.received import Received
from torchmagic.probes.rectifiers import Rectifiers
from torchmagic.probes.replay_wrappers import Detection
from torchmagic.probes.retained import Retained
from torchmagic.probes.row_mixing import RowMixing
from torchmagic.probes.slow_modes import SlowModes
from torchmagic.probes.snapshots import Snapshots
from torchmagic.probes.softmax_axes import SoftmaxAxes
from torchmagic.probes.squashes import Squashes
from torchmagic.probes.standstill import Standstill
from torchmagic.probes.strays import Strays
from torchmagic.probes.structure import Structure
from torchmagic.probes.taps import Taps
from torchmagic.probes.target_range import TargetRange
from torchmagic.probes.timing import Timing
from torchmagic.probes.unstepped import Unstepped
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
    gradless = Gradless(cast)
    gradients = Gradients(cast, pacer) if settings.watches("gradients") else None
    chosen: list[Probe | None] = [
        cast,
        Timing(pacer, taps, records=settings.watches("performance")),
        *_data(settings, cast, taps, pacer, gradients),
        Differences() if settings.watches("data") else None,
        Losses() if settings.watches("backward") else None,
        *_losses(settings, cast),
        Modes(cast, taps),
        AwakeDropout(cast),
        Clearing(cast) if settings.watches("gradients") else None,
        gradients,
        *_loop(cast, taps, gradients),
        _nonfinite(settings, cast, taps, gradients),
        Ownership(cast) if settings.watches("gradients") else None,
        Weights(cast, pacer, gradients) if settings.watches("weights") else None,
        Updates(cast, pacer, gradients) if settings.watches("weights") else None,
        Rectifiers(cast, taps, leaves, pacer, chosen=settings.every is not None)
        if settings.watches("activations")
        else None,
        Activations(cast, taps, leaves, pacer) if settings.watches("activations") else None,
        *_layers(settings, cast, taps, leaves, pacer),
        *_speed(settings, cast, taps, leaves, pacer),
        Devices(cast) if settings.watches("device") else None,
        *_mixed_precision(settings, cast, taps, leaves, pacer),
        *_connections(settings, cast, pacer),
        Objectives() if settings.watches("backward") else None,
        sites := BuildingSites(),
        OptimizerGroups(cast, sites),
        Standstill(cast) if settings.watches("weights") else None,
        LearningRates(cast) if settings.watches("lr") else None,
        Memory() if settings.watches("memory") else None,
        Retained(cast, namespace) if settings.watches("memory") else None,
        Holders(namespace) if settings.watches("memory") else None,
        Categories(cast, pacer) if settings.watches("memory") and _looks_closely(settings) else None,
        GlobalModes(),
        Hooks(cast),
        Leftovers(cast),
        gradless,
        TargetRange() if settings.watches("forward") else None,
        Crashes(cast, gradless, namespace),
        Snapshots(cast) if settings.level is Level.EXPERT and settings.watches("weights") else None,
    ]
    return tuple(probe for probe in chosen if probe is not None)


def _losses(settings: Settings, cast: Cast) -> tuple[Probe, ...]:
    """Return the probes of what losses are given; the first one forgets, at the end of a step, where it was made."""
    if not settings.watches("forward"):
        return ()
    producers = Producers(cast)
    return SoftmaxAxes(cast, producers), LossInputs(producers), Criteria(cast, producers)


def _layers(settings: Settings, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> tuple[Probe, ...]:
    """Return the probes of how a model is built, how its weights begin, and what comes of it."""
    found: list[Probe] = []
    if settings.watches("activations"):
        found += [Structure(cast, taps, leaves, pacer), Squashes(cast, taps, leaves, pacer)]
    if settings.watches("forward"):
        found += [Predictions(cast, taps, pacer), RowMixing(cast, taps, pacer)]
    if settings.watches("weights"):
        found.append(EqualUnits(cast, taps))
    return tuple(found)


def _connections(settings: Settings, cast: Cast, pacer: Pacer) -> tuple[Probe, ...]:
    """Return the probes of what a loss reaches, which gradients arrive, and which steps use them."""
    found: list[Probe] = []
    if settings.watches("backward"):
        reach = Reach(cast, pacer)
        found += [reach, Detached(cast), Strays(cast, reach), FrozenOutput(cast, reach)]
    if settings.watches("gradients"):
        found += [Received(cast), GradientUses(cast)]
    return tuple(found)


def _speed(settings: Settings, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> tuple[Probe, ...]:
    """Return the probes of what makes steps slow, and of what the first layer is given, which shows with the leaves."""
    found: list[Probe] = [FirstLayers(cast, taps, leaves, pacer)] if settings.watches("data") else []
    if settings.watches("performance"):
        found += [HostReads(), SlowModes()]
    return tuple(found)


def _data(settings: Settings, cast: Cast, taps: Taps, pacer: Pacer, gradients: Gradients | None) -> tuple[Probe, ...]:
    """Return the probes of batches and evaluations; an evaluation is known by its loader, and its end by its losses."""
    watches_data, watches_end = settings.watches("data"), settings.watches("early-stopping")
    if not (watches_data or watches_end or settings.watches("validation")):
        return ()
    loaders = Loaders(cast)
    found: list[Probe] = [loaders]
    if watches_data:
        found += [Batches(loaders, pacer, gradients), Inputs(cast, taps, pacer, loaders)]
    if watches_end or settings.watches("validation"):
        found.append(validation := Validation(cast, taps, loaders))
        if watches_end:
            found.append(EarlyStopping(validation))
    return tuple(found)


def _loop(cast: Cast, taps: Taps, gradients: Gradients | None) -> tuple[Probe, ...]:
    """Return the probes of the order of calls in a loop; who hears of a step behind the gradients knows their norm."""
    if gradients is None:
        return ()
    loop = (LoopOrder(cast, gradients), Clipping(cast), Unstepped(cast), Accumulation(cast))
    return (*loop, Rebuilding(cast), Lives(cast, taps))


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
