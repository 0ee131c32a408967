"""This file is the structure of a model as it runs: units that are alike, layers that follow each other, its norms."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualUnitsRecord:
    """A weight whose units all began with the same values, as found at one step.

    Args:
        parameter: Full name of the weight.
        module: Path of its module.
        class_name: Class of the module; empty for a tensor that belongs to none.
        step: Optimizer steps made before.
        num_units: How many units it has.
        weight_deviation: Greatest distance of a unit from the first one, as a share of the greatest magnitude; infinite
            for a table, whose rows are no units.
        gradient_deviation: The same of their gradients; 0 where there are none, or all are zero.
        is_zero: Whether all its values are zero.
        has_gradient: Whether it holds a gradient.
        gradient_is_zero: Whether all values of that gradient are zero.
        place: Line that filled it in this run; None where none was seen.
    """

    parameter: str
    module: str
    class_name: str
    step: int
    num_units: int
    weight_deviation: float
    gradient_deviation: float
    is_zero: bool
    has_gradient: bool
    gradient_is_zero: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectFollowRecord:
    """An affine module that was given the very tensor that another one made, and nothing else got.

    Args:
        first: Path of the module that made it.
        second: Path of the module that took it.
        first_class: Class of the first.
        second_class: Class of the second.
        num_in: Values that a unit of the first looks at.
        num_middle: Features between the two.
        num_out: Features that the second gives.
        is_plain: Whether both look at all features in all places alike: no groups, no strides that down- or upsample.
        num_seen: Training forwards in which it was seen.
        num_forwards: Training forwards that were looked at.
        of_library: Whether the second is called by a library's forward, so that it is not the user who joins the two.
    """

    first: str
    second: str
    first_class: str
    second_class: str
    num_in: int
    num_middle: int
    num_out: int
    is_plain: bool
    num_seen: int
    num_forwards: int
    of_library: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleSampleRecord:
    """A batch norm in training mode: of how many training forwards looked at it got one sample only.

    Args:
        module: Its path.
        class_name: Its class.
        num_forwards: Training forwards looked at.
        num_single: Those with one sample.
        same_target: Whether every loss looked at had the very same target: there is but one sample.
    """

    module: str
    class_name: str
    num_forwards: int
    num_single: int
    same_target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SquashRecord:
    """A sigmoid or tanh, and what its outputs are used for.

    Args:
        module: Its path; for a call of the function the module in whose forward it stands, and which call it is.
        function: ``sigmoid`` or ``tanh``.
        is_hidden: Whether a layer with weights works on its outputs.
        is_gate: Whether its outputs are multiplied with something else that is learned.
        place: Line of the call; None for a module.
    """

    module: str
    function: str
    is_hidden: bool
    is_gate: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedRowsRecord:
    """What a second look at one batch with a single row changed showed.

    Args:
        model: Name of the model.
        module: Path of the first module that was given rows apart and gave them mixed.
        step: Optimizer steps made before.
        num_rows: Rows of the batch.
        num_changed: Other rows of the output that changed.
        change: Greatest change of another row, as a share of the changed row's own.
        place: Line in the user's code that mixes them, or that calls the module.
    """

    model: str
    module: str
    step: int
    num_rows: int
    num_changed: int
    change: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForesightRecord:
    """What a second run of one sequence with a single later element changed showed, of a model that predicts the next.

    Args:
        model: Name of the model.
        class_name: Class of the first module that let the later element reach an earlier place; empty where none did.
        step: Optimizer steps made before.
        place_changed: Place of the element that was changed, from 0.
        num_earlier: Places before it.
        num_changed: Those of them of which the model says something else then.
        change: Greatest change of an earlier place, as a share of that at the place itself or behind it.
        place: Line that calls that module.
    """

    model: str
    class_name: str
    step: int
    place_changed: int
    num_earlier: int
    num_changed: int
    change: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedOutputRecord:
    """A loss was given the very output of a dropout that is active.

    Args:
        module: Path of the dropout.
        probability: That with which it drops.
        loss: Name of the loss function.
        step: Optimizer steps made before the first.
        count: Losses, of those that were looked at, of which it was so.
        place: Line that calls the loss.
    """

    module: str
    probability: float
    loss: str
    step: int
    count: int
    place: Place | None
