"""This file is the objective: what a loss is made of, and how an optimizer's groups follow it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveRecord:
    """What the loss of one line with a ``backward`` is made of; recorded again only when that changed.

    The loss is taken apart where it is a sum, a mean, a multiple or a root, down to standard criteria and what else
    there is. The values of its only criterion are the series ``criterion``, under the loss's name, and those that the
    best constant prediction would have had on the targets so far the series ``chance_loss``.

    Args:
        loss: Name of the loss.
        place: Line that calls ``backward``.
        step: Optimizer steps made before.
        criteria: The standard criteria in it, such as ``cross_entropy``.
        mixed: Whether there are other terms, such as a penalty.
        sign: 1 where all criteria are added, -1 where all are subtracted, 0 where it differs or cannot be told.
        scale: What its only criterion is multiplied by, without the sign; NaN where that cannot be told.
        weighted: Whether the samples of a criterion have weights of both signs, as advantages are.
        log_prob: Whether a distribution was asked for a log-probability with a gradient before.
        num_classes: Classes of a classification criterion; 0 for others.
        altered: Whether a criterion has class weights, label smoothing or another reduction than the mean.
    """

    loss: str
    place: Place | None
    step: int
    criteria: tuple[str, ...]
    mixed: bool
    sign: int
    scale: float
    weighted: bool
    log_prob: bool
    num_classes: int
    altered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord:
    """A parameter group of an optimizer, as it was at the optimizer's first step in this run.

    Args:
        optimizer: Name of the optimizer.
        class_name: Its class.
        subject: Subject of the series ``lr``.
        parameters: Names of the group's parameters.
        num_elements: Elements of all of them.
        lr: Learning rate; None for an optimizer without one.
        weight_decay: Weight decay.
        decoupled: Whether the decay is applied to the weights by itself, as AdamW does, and not to the gradient.
        maximize: Whether its steps go up.
        step: Optimizer steps made before its first step.
        built: Line that built the optimizer; None where it was not built in this run.
        settings: Its other settings by their names, such as ``momentum``, ``betas`` and ``eps``; what is None is
            ``none``, and several numbers are one text.
    """

    optimizer: str
    class_name: str
    subject: str
    parameters: tuple[str, ...]
    num_elements: int
    lr: float | None
    weight_decay: float
    decoupled: bool
    maximize: bool
    step: int
    built: Place | None
    settings: Mapping[str, bool | int | float | str] = field(default_factory=dict)
