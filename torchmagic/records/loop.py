"""This file is the loop: in which order gradients were made, reset, clipped and used, and what was built anew."""

from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.place import Place

# Who steps where a loop changes weights by itself.
BY_HAND = "the loop"


class Idle(StrEnum):
    """Why a step had no gradients."""

    RESET = "reset"
    NO_BACKWARD = "no backward"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleStepRecord:
    """An optimizer stepped while all its gradients were None or zero.

    Args:
        optimizer: Name of the optimizer.
        step: The step.
        why: Whether a backward had made gradients that were reset before the step, or none had run since the step
            before.
        count: How many such steps this one optimizer has made so far, this one included.
        steps: Its steps that were looked at so far.
        closure: Whether the step called the model, as a closure does.
        computed: Whether a model or a loss of torch's was called since the step before; else gradients were only reset.
        place: Line of the step.
        reset: Line that reset the gradients; None where it is not known.
        differentiated: Whether ``torch.autograd.grad`` gave gradients of its parameters since the step before.
        applied: Whether the parameters were changed after that, by the loop itself.
    """

    optimizer: str
    step: int
    why: Idle
    count: int
    steps: int
    closure: bool
    computed: bool
    place: Place | None
    reset: Place | None
    differentiated: bool = False
    applied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HandStepsRecord:
    """The steps of a run that a loop made by itself, without an optimizer of torch's; written as the run ends.

    Args:
        steps: How many.
        parameters: Names of the tensors that the losses were traced back to.
        descends: Whether nearly all of those that were looked at went against the gradient.
    """

    steps: int
    parameters: tuple[str, ...]
    descends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnStepsRecord:
    """Where the first steps of an optimizer whose class is the user's own went; written as the run ends.

    Args:
        optimizer: The optimizer.
        steps: How many were looked at.
        uphill: Those of them that went along with the gradients, and not against them.
    """

    optimizer: str
    steps: int
    uphill: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsteppedRecord:
    """An optimizer never stepped although its parameters got gradients; written as the run ends.

    Args:
        optimizer: Name of the optimizer.
        class_name: Its class.
        iterations: Backward passes that gave its parameters gradients; counted only as far as a rule needs.
        resets: Calls of its ``zero_grad``.
        scheduled: Steps of schedulers of it.
        built: Whether it was built in this run.
        changed: Whether its parameters changed all the same.
        backward: Line of the backward.
        schedule: Line of the scheduler's step.
        module: Innermost module that has all its parameters; empty where none of a model has.
        alone: Backward passes at lines that gave gradients to no optimizer that stepped.
        wiped: How often somebody reset its gradients, or changed them, between two backward passes.
        evaluated: Whether its model was in evaluation mode meanwhile.
        inspected: Whether the code around the backward takes values from ``.grad`` by hand.
        waiting: Line that would step it, in a branch that was never taken; None where there is none.
    """

    optimizer: str
    class_name: str
    iterations: int
    resets: int
    scheduled: int
    built: bool
    changed: bool
    backward: Place | None
    schedule: Place | None
    module: str = ""
    alone: int = 0
    wiped: int = 0
    evaluated: bool = False
    inspected: bool = False
    waiting: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardedGradientsRecord:
    """Gradients that one line made were reset, again and again, before a step used them; written as the run ends.

    Args:
        optimizer: Name of the optimizer.
        step: The first step that used only the last ones.
        wiped: How many backward passes before a step were for nothing, in most such steps.
        count: Steps before which it was just as many.
        steps: Steps that were looked at.
        inspected: Whether the code around the backward takes values from ``.grad`` by hand.
        backward: Line of the backward.
        reset: Line of the reset.
        kept: Line of the backward whose gradients the step uses; None where it is the same.
    """

    optimizer: str
    step: int
    wiped: int
    count: int
    steps: int
    inspected: bool
    backward: Place | None
    reset: Place | None
    kept: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulationRecord:
    """Several backward passes of one line, on different batches, added up to the gradient of one step.

    Args:
        optimizer: Name of the optimizer.
        step: The step.
        num_backwards: Backward passes since its step before.
        criterion: What the last loss was made by: a function, or the name of a node of the graph.
        place: Line of the backward.
    """

    optimizer: str
    step: int
    num_backwards: int
    criterion: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltOptimizerRecord:
    """One line built several optimizers over the same parameters, each of which stepped; written as the run ends.

    Args:
        optimizer: Name of the optimizers.
        class_name: Their class.
        built: How many were built and stepped.
        keeps_state: Whether they keep state for each parameter, as a momentum.
        least_steps: Fewest steps that one of them made.
        most_steps: Most steps that one of them made.
        most_passes: Most passes over a loader that one of them lived for; 0 where no loader was used.
        same_settings: Whether all had the same learning rate and other settings.
        places: The line that built them, then those that led to it.
        builder: Of these, the one to change: a function that only returns what it builds does not count.
    """

    optimizer: str
    class_name: str
    built: int
    keeps_state: bool
    least_steps: int
    most_steps: int
    most_passes: int
    same_settings: bool
    places: tuple[Place, ...]
    builder: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRecord:
    """One line gave a model new weights several times, and each time it was trained anew; written as the run ends.

    Args:
        model: Name of the model.
        class_name: Its class.
        how: ``built``, ``initialised`` or ``loaded``.
        lives: How many times it was trained from such weights.
        alive: How many of the models are still alive; 1 where one model was given new weights.
        most_passes: Most passes over its data that one life saw; 0 where its data is not known.
        least_steps: Fewest steps in a life.
        same: Whether settings of the optimizer and the model's make were the same in all lives, and the data of each
            (a dataset and a batch size) those of two others at least.
        reseeded: Whether the random seed was set to another one in between.
        overlapping: Whether two lives were trained at the same time.
        places: The line, then those that led to it.
        builder: Of these, the one to change: a function that only returns what it builds does not count.
    """

    model: str
    class_name: str
    how: str
    lives: int
    alive: int
    most_passes: int
    least_steps: int
    same: bool
    reseeded: bool
    overlapping: bool
    places: tuple[Place, ...]
    builder: Place | None = None
