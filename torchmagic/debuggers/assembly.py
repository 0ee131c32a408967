"""This file is the assembly: which probes a run gets."""

from collections.abc import Iterator, Mapping
from typing import Any

from torchmagic.debuggers.anomaly_parts import anomaly_parts
from torchmagic.debuggers.memory_parts import memory_parts
from torchmagic.debuggers.parts import Parts
from torchmagic.debuggers.rank_parts import rank_parts
from torchmagic.debuggers.settings import Level, Settings
from torchmagic.debuggers.surrounding_parts import surrounding_parts
from torchmagic.debuggers.trial_parts import trial_parts
from torchmagic.probes.accumulation import Accumulation
from torchmagic.probes.activations import Activations
from torchmagic.probes.awake_dropout import AwakeDropout
from torchmagic.probes.batches import Batches
from torchmagic.probes.beginning import Beginning
from torchmagic.probes.cast import Cast
from torchmagic.probes.clearing import Clearing
from torchmagic.probes.clipping import Clipping
from torchmagic.probes.crashes import Crashes
from torchmagic.probes.criteria import Criteria
from torchmagic.probes.derivatives_taken import DerivativesTaken
from torchmagic.probes.detached import Detached
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.devices import Devices
from torchmagic.probes.differences import Differences
from torchmagic.probes.directions import Directions
from torchmagic.probes.discarded import Discarded
from torchmagic.probes.early_stopping import EarlyStopping
from torchmagic.probes.equal_units import EqualUnits
from torchmagic.probes.first_layers import FirstLayers
from torchmagic.probes.frozen_output import FrozenOutput
from torchmagic.probes.gradient_uses import GradientUses
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.gradless import Gradless
from torchmagic.probes.hand_clips import HandClips
from torchmagic.probes.hand_steps import HandSteps
from torchmagic.probes.headroom import Headroom
from torchmagic.probes.host_reads import HostReads
from torchmagic.probes.inputs import Inputs
from torchmagic.probes.learning_rates import LearningRates
from torchmagic.probes.leaves import Leaves
from torchmagic.probes.lives import Lives
from torchmagic.probes.loaders import Loaders
from torchmagic.probes.loop_order import LoopOrder
from torchmagic.probes.loss_inputs import LossInputs
from torchmagic.probes.loss_scaling import LossScaling
from torchmagic.probes.losses import Losses
from torchmagic.probes.mixed_precision import MixedPrecision
from torchmagic.probes.modes import Modes
from torchmagic.probes.moving_targets import MovingTargets
from torchmagic.probes.objectives import Objectives
from torchmagic.probes.optimizer_groups import BuildingSites, OptimizerGroups
from torchmagic.probes.ownership import Ownership
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.passes import Passes
from torchmagic.probes.predictions import Predictions
from torchmagic.probes.probe import Probe
from torchmagic.probes.producers import Producers
from torchmagic.probes.rank_progress import Progress
from torchmagic.probes.reach import Reach
from torchmagic.probes.rebuilding import Rebuilding
from torchmagic.probes.received import Received
from torchmagic.probes.rectifiers import Rectifiers
from torchmagic.probes.riders import Riders
from torchmagic.probes.slow_modes import SlowModes
from torchmagic.probes.snapshots import LastLook, Snapshots
from torchmagic.probes.softmax_axes import SoftmaxAxes
from torchmagic.probes.squashes import Squashes
from torchmagic.probes.standstill import Standstill
from torchmagic.probes.strays import Strays
from torchmagic.probes.structure import Structure
from torchmagic.probes.taken_part import TakenPart
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


class Assembly:
    """Chooses the probes of one run, and, when its settings change, those of the rest of it.

    A probe that is wanted before and after a change stays the one it was.

    Args:
        settings: What the user asked for.
        taps: Through which the probes listen.
        namespace: The user's names.

    Attributes:
        passes: Tells how far the pass is that feeds the training.
        progress: Of a run that is one of a rank, what the rank did last; None for any other run.
    """

    def __init__(self, settings: Settings, taps: Taps, namespace: Mapping[str, Any]) -> None:
        self._taps, self.namespace = taps, namespace
        self._parts = Parts()
        self._cast = Cast(namespace, only=settings.model)
        self._pacer = Pacer(share=settings.budget_share, every=settings.every)
        self._leaves = Leaves(taps)
        self._gradless = Gradless(self._cast)
        self._riders = Riders()
        self._gradients = Gradients(self._cast, self._pacer, self._riders)
        self._timing = Timing(self._pacer, taps)
        self._sites = BuildingSites()
        self.passes = Passes()
        self.progress: Progress | None = None

    def probes(self, settings: Settings) -> tuple[Probe, ...]:
        """Return the probes in the order in which they hear an event.

        Args:
            settings: What is wanted from now on; which model is watched, and each how many steps, stays as it was.
        """
        self._parts.begin()
        closely = settings.level is Level.EXPERT and settings.every is None
        self._pacer.change(share=settings.budget_share, always=EVERY_STEP if closely else frozenset())
        self._timing.records = settings.watches("performance")
        make, cast = self._parts, self._cast
        reach = make(Reach, cast, self._pacer, self._gradients)
        return (
            cast,
            asserts := make(DeviceAsserts, cast),  # before those who read from a device, and may find it stopped
            *([make(HandSteps, cast, reach)] if settings.watches("backward") else []),
            self._timing,
            self.passes,
            *self._data(settings),
            *([make(Losses, self._riders, cast.at_work)] if settings.watches("backward") else []),
            *self._losses(settings),
            *rank_parts(self._parts, cast, self.namespace, self.progress),
            make(Modes, cast, self._taps),
            make(AwakeDropout, cast),
            *self._loop(settings),
            *anomaly_parts(make, settings, cast, self._taps, self._gradients),
            *([make(Ownership, cast)] if settings.watches("gradients") else []),
            *self._weights(settings),
            *self._layers(settings),
            *self._speed(settings),
            *([make(Devices, cast)] if settings.watches("device") else []),
            *self._mixed_precision(settings),
            *self._connections(settings, reach),
            self._sites,
            make(OptimizerGroups, cast, self._sites),
            make(Directions, cast),
            make(Beginning, cast, self._taps),
            *([make(Standstill, cast)] if settings.watches("weights") else []),
            *([make(LearningRates, cast)] if settings.watches("lr") else []),
            *memory_parts(make, settings, cast, self._pacer, self.namespace),
            *surrounding_parts(make, cast, self._taps),
            self._gradless,
            *([make(TargetRange)] if settings.watches("forward") else []),
            make(Crashes, cast, self._gradless, asserts, self.namespace),
            *([make(LastLook, cast)] if settings.watches("weights") else []),
            *([make(Snapshots, cast)] if settings.level is Level.EXPERT and settings.watches("weights") else []),
            make(TakenPart, cast, self.namespace),
        )

    def _losses(self, settings: Settings) -> Iterator[Probe]:
        """Yield the probes of what losses are given; the first one forgets, at a step's end, where it was made."""
        if settings.watches("forward"):
            producers = self._parts(Producers, self._cast)
            yield self._parts(SoftmaxAxes, self._cast, producers)
            yield self._parts(LossInputs, producers)
            yield self._parts(Criteria, self._cast, producers)

    def _weights(self, settings: Settings) -> Iterator[Probe]:
        if settings.watches("weights"):
            yield self._parts(Weights, self._cast, self._pacer, self._gradients)
            yield self._parts(Updates, self._cast, self._pacer, self._gradients)

    def _layers(self, settings: Settings) -> Iterator[Probe]:
        """Yield the probes of what layers give, how a model is built, how its weights begin, and what comes of it."""
        cast, taps, leaves, pacer = self._cast, self._taps, self._leaves, self._pacer
        if settings.watches("activations"):
            yield self._parts(Rectifiers, cast, taps, leaves, pacer, chosen=settings.every is not None)
            yield self._parts(Activations, cast, taps, leaves, pacer)
            yield self._parts(Structure, cast, taps, leaves, pacer)
            yield self._parts(Squashes, cast, taps, leaves, pacer)
        if settings.watches("forward"):
            yield self._parts(Predictions, cast, taps, pacer)
            yield from trial_parts(self._parts, cast, taps, pacer)
        if settings.watches("weights"):
            yield self._parts(EqualUnits, cast, taps)

    def _connections(self, settings: Settings, reach: Reach) -> Iterator[Probe]:
        """Yield the probes of what a loss reaches, which gradients arrive, and which steps use them."""
        if settings.watches("backward"):
            yield reach
            yield self._parts(Detached, self._cast)
            yield self._parts(Strays, self._cast, reach)
            yield self._parts(FrozenOutput, self._cast, reach)
            yield self._parts(DerivativesTaken, self._cast)
        if settings.watches("gradients"):
            yield self._parts(Received, self._cast)
            yield self._parts(GradientUses, self._cast)
        if settings.watches("backward"):
            yield self._parts(Objectives)
            yield self._parts(MovingTargets, self._cast)

    def _speed(self, settings: Settings) -> Iterator[Probe]:
        """Yield the probes of what makes steps slow, and of what the first layer is given, which shows with leaves."""
        if settings.watches("data"):
            yield self._parts(FirstLayers, self._cast, self._taps, self._leaves, self._pacer)
        if settings.watches("performance"):
            yield self._parts(HostReads)
            yield self._parts(SlowModes)

    def _data(self, settings: Settings) -> Iterator[Probe]:
        """Yield the probes of batches and evaluations; one is known by its loader, and its end by its losses."""
        watches_data, watches_end = settings.watches("data"), settings.watches("early-stopping")
        if not (watches_data or watches_end or settings.watches("validation") or self.progress is not None):
            return
        yield (loaders := self._parts(Loaders, self._cast))
        if watches_data:
            yield self._parts(Batches, loaders, self._pacer, self._gradients)
            yield self._parts(Inputs, self._cast, self._taps, self._pacer, loaders)
        if watches_end or settings.watches("validation"):
            yield (validation := self._parts(Validation, self._cast, self._taps, loaders))
            if watches_end:
                yield self._parts(EarlyStopping, validation)
        if watches_data:
            yield self._parts(Differences)

    def _loop(self, settings: Settings) -> Iterator[Probe]:
        """Yield the probes of gradients and of the order of calls; who is behind the gradients knows their norm."""
        if settings.watches("gradients"):
            yield self._parts(Clearing, self._cast)
            yield self._gradients
            yield self._parts(LoopOrder, self._cast, self._gradients)
            yield self._parts(Clipping, self._cast)
            yield self._parts(Unstepped, self._cast)
            yield self._parts(Discarded, self._cast)
            yield self._parts(Accumulation, self._cast)
            yield self._parts(Rebuilding, self._cast)
            yield self._parts(Lives, self._cast, self._taps)

    def _mixed_precision(self, settings: Settings) -> Iterator[Probe]:
        if settings.watches("mixed-precision"):
            yield (precision := self._parts(MixedPrecision, self._cast, self._taps, self._leaves))
            yield self._parts(LossScaling, self._cast)
            yield self._parts(HandClips, self._cast)
            yield self._parts(Headroom, self._cast, precision, self._taps, self._leaves, self._pacer)
