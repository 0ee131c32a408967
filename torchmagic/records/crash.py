"""This file is the crash: what stood on the line that raised, and what torch's own function there was given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from torchmagic.records.place import Place


class CrashKind(StrEnum):
    """What an exception of torch complains about."""

    SHAPE = "shape"
    DTYPE = "dtype"
    DEVICE = "device"
    INPLACE = "inplace"
    BACKWARD_TWICE = "backward twice"
    NO_GRAD = "no grad"
    LABEL = "label"
    INDEX = "index"
    SINGLE = "single value a channel"
    MEMORY = "memory"
    NO_GRADIENTS = "no gradients"
    ASSERT = "assertion of a device"
    MISUSE = "misuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFact:
    """A tensor at the scene of a crash.

    Args:
        name: What the user, or the function that raised, calls it.
        shape: Its sizes.
        dtype: As torch names it, without ``torch.``.
        device: As torch names it.
        made_by: Node that made it, such as ``LogSoftmaxBackward0``; empty for a leaf.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    made_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashSiteRecord:
    """The scene of an exception that ended the run and that torch raised.

    Args:
        problem: What it complains about.
        error: Class of the exception; of its cause, where the user raised another one from it.
        message: What torch says.
        step: Optimizer steps made before.
        place: The user's innermost line.
        called: The outermost line of the user's, that of the cell itself.
        expression: The part of the line that raised, as it is written; empty where Python does not say.
        module: Path of the innermost module that ran; None outside of any.
        class_name: Its class.
        is_torchs: Whether that class is torch's own, so that its sizes are what it expects.
        settings: What it was built with, such as ``in_features``.
        weights: Its own parameters and buffers.
        given: The tensors it was called with.
        operation: torch's function that raised, such as ``cross_entropy``; empty where it is not written in Python.
        operands: The tensors that it was given.
        tensors: The tensors that the expression names.
        built: Line that makes the module, where the source shows it.
        value: The label or index that is out of range.
        limit: How many classes, or rows, there are.
        num_bad: How many labels or indices of the tensor are out of range.
        num_values: How many there are.
        alike: Whether all that are out of range are that value.
        noticed: Line at which a device told it, where the code had gone on meanwhile.
    """

    problem: CrashKind
    error: str
    message: str
    step: int = 0
    place: Place | None = None
    called: Place | None = None
    expression: str = ""
    module: str | None = None
    class_name: str = ""
    is_torchs: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    weights: tuple[TensorFact, ...] = ()
    given: tuple[TensorFact, ...] = ()
    operation: str = ""
    operands: tuple[TensorFact, ...] = ()
    tensors: tuple[TensorFact, ...] = ()
    built: Place | None = None
    value: int | None = None
    limit: int | None = None
    num_bad: int = 0
    num_values: int = 0
    alike: bool = False
    noticed: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InplaceRecord:
    """A backward needed a tensor that had been changed in place, or a leaf was.

    Args:
        name: What was changed, in the user's words: a parameter, a variable; empty where nobody names it.
        made_by: Node that made the changed tensor, such as ``SigmoidBackward0``.
        needed_by: Node of the backward that needed its old values; empty where that was not seen.
        shape: Its sizes; empty where they are not known.
        optimizer: Name of the optimizer that owns the changed parameter; empty where it is no parameter of one.
        place: Line that changes it; None where none was found.
        sure: Whether nothing else in the code that ran can have changed it.
    """

    name: str
    made_by: str
    needed_by: str
    shape: tuple[int, ...]
    optimizer: str
    place: Place | None
    sure: bool


class Reuse(StrEnum):
    """Why a backward came by a graph that an earlier one had freed."""

    CARRIED = "carried from one iteration to the next"
    OUTSIDE = "made once, outside of the loop"
    SHARED = "shared by two losses"
    AGAIN = "the same loss again"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusedGraphRecord:
    """A backward reached a part of the graph that an earlier backward had freed.

    Args:
        reuse: How it came there.
        name: The variable whose graph it is; empty where none was found.
        made: Line that makes the variable.
        backward: Line of the backward that raised.
        loss: What backward was called on, as it is written.
    """

    reuse: Reuse
    name: str
    made: Place | None
    backward: Place | None
    loss: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GradlessForwardRecord:
    """A backward was called on what a model had computed with gradients switched off.

    Args:
        step: Optimizer steps made before.
        model: Name of the model.
        how: What switched them off, such as ``torch.no_grad()``; empty where the source does not show it.
        switched: Line that switched them off; None where the source does not show it.
        forward: Line that called the model.
        backward: Line of the backward.
        crashed: Whether that backward raised; where not, the loss had been made to require a gradient by hand.
    """

    step: int
    model: str
    how: str
    switched: Place | None
    forward: Place | None
    backward: Place | None
    crashed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRangeRecord:
    """A binary cross-entropy was given targets outside of 0 to 1, which it takes without a word.

    Args:
        step: Optimizer steps made before.
        loss: Name of the loss function.
        low: Smallest target of the batch.
        high: Largest one.
        num_bad: How many targets lie outside.
        num_values: How many there are.
        target: What the target is called on the line; empty where it is not a plain name.
        place: Line of the loss.
        reversed: Whether the target is what the model gave, and the prediction is data.
    """

    step: int
    loss: str
    low: float
    high: float
    num_bad: int
    num_values: int
    target: str
    place: Place | None
    reversed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """What a name keeps in memory: its bytes, and in words what it is."""

    name: str
    what: str
    num_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfMemoryRecord:
    """An allocation failed.

    Args:
        device: Where, as torch names it.
        requested: Bytes asked for; None where the message does not say.
        total: Bytes that the device has; None where it is not known.
        free: Bytes that were free there.
        categories: Bytes by category; each storage counts once.
        residents: Names that keep most, the largest first; those of models and optimizers are not among them.
        optimizer: Name and class of the optimizer with the largest state, as ``opt (Adam)``; empty without one.
        model: Name of the model that ran last.
        is_training: Whether that model is in training mode.
        grad_enabled: Whether gradients were switched on where it ran.
        loader: Name of the loader whose batch was at work; empty without one.
        batch_size: Samples a batch; None where it is not known.
        half: Whether the largest activations are in half precision already.
    """

    device: str
    requested: int | None
    total: int | None
    free: int | None
    categories: Mapping[str, int]
    residents: tuple[Resident, ...]
    optimizer: str
    model: str
    is_training: bool
    grad_enabled: bool
    loader: str
    batch_size: int | None
    half: bool
