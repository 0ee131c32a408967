"""This file is the protocol of the loop: facts about the order and the state in which torch was called."""

from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclearedGradientsRecord:
    """An optimizer stepped on gradients that still held those of its step before.

    Args:
        optimizer: Name of the optimizer.
        step: The later of the two steps.
        num_parameters: Parameters whose gradient was added to and never reset in between.
        total: Parameters of the optimizer that had a gradient.
        streak: How many of its steps in a row it held for, this one included.
        backward: Line of the backward that added to them.
    """

    optimizer: str
    step: int
    num_parameters: int
    total: int
    streak: int
    backward: Place | None


class OwnTrain(StrEnum):
    """What the ``train`` of a model's class does."""

    NONE = "none"  # it is torch's
    SWITCH = "switch"
    ALONE = "alone"  # it sets a flag of the model and reaches none of its parts
    OTHER = "other"  # it is no switch of a mode


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalModeRecord:
    """A step was trained while modules that behave differently in training were in evaluation mode.

    Args:
        model: Name of the model.
        step: The step.
        modules: Paths of those modules whose own or parent's parameters the step updated.
        class_names: Their classes, in the same order.
        forward: Line that called the model.
        switched: Line of the latest ``.eval()`` on the model or a part of it, when it was in this run.
        own_train: What the ``train`` of the model's class does.
        train: Where that is defined, if by the user.
    """

    model: str
    step: int
    modules: tuple[str, ...]
    class_names: tuple[str, ...]
    forward: Place | None
    switched: Place | None
    own_train: OwnTrain = OwnTrain.NONE
    train: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnownedGradientsRecord:
    """In one iteration, parameters received a gradient although no optimizer owns them.

    Args:
        model: Name of the model; empty for parameters of none.
        step: Optimizer steps made before.
        parameters: Their full names.
        changed: Those of them whose values changed all the same since the run began.
        owned: Parameters of the same model that a stepping optimizer owns.
        training: Whether the model was in training mode.
        scores: Whether every loss so far was nothing but what the model gives, without a target.
    """

    model: str
    step: int
    parameters: tuple[str, ...]
    changed: tuple[str, ...]
    owned: int
    training: bool
    scores: bool = False
