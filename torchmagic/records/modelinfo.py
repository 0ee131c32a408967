"""This file is the record of one model: its modules, its tensors, one forward, and what training it would take."""

from dataclasses import dataclass
from enum import StrEnum


class Held(StrEnum):
    """How a module holds a tensor; packed ones are those that quantised modules hide."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    PACKED = "packed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTensor:
    """One tensor that a model holds, at the first name that it has.

    Args:
        name: Path of its module and its own name, with dots.
        held: How it is held.
        shape: Sizes; empty with ``is_lazy``.
        dtype: As torch names it, without ``torch.``.
        device: As torch names it.
        num_elements: Elements of the shape; a parameter without a shape yet has none.
        num_bytes: Bytes of its elements.
        trainable: Whether a gradient is asked for.
        is_lazy: Whether it gets its shape from the first input only.
        also: Other names of the same tensor.
    """

    name: str
    held: Held
    shape: tuple[int, ...]
    dtype: str
    device: str
    num_elements: int
    num_bytes: int
    trainable: bool = False
    is_lazy: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulePart:
    """One module at one place of the tree, in the order of registration; counts are of all that is below it.

    Args:
        path: Its name in ``named_modules()``; empty for the root.
        class_name: Its class.
        settings: What it says of itself in brackets, on one line.
        shared_with: First path of the same module; empty where this is the first.
        num_parameters: Elements of all parameters, each counted once.
        num_trainable: Those of them that ask for a gradient.
        num_buffers: Elements of all buffers, each counted once.
        num_bytes: Bytes of all tensors held, each counted once.
        has_own: Whether it holds parameters itself.
        training: Its mode.
        kinds: Dtypes and devices of its own tensors.
        calls: How often the forward called it; None where nothing was run.
        inputs: What the first call got, as text, sizes with a cross between them; empty where unknown.
        output: What the first call gave.
        flops: Floating point operations of all its calls, with those below it.
        seconds: Time of all its calls, with those below it; None where not measured.
        saved_bytes: What autograd keeps of all its calls for the backward.
        is_used: Whether the forward called it or used one of its tensors; None where nothing was run.
    """

    path: str
    class_name: str
    settings: str = ""
    shared_with: str = ""
    num_parameters: int = 0
    num_trainable: int = 0
    num_buffers: int = 0
    num_bytes: int = 0
    has_own: bool = False
    training: bool = False
    kinds: tuple[str, ...] = ()
    calls: int | None = None
    inputs: str = ""
    output: str = ""
    flops: int | None = None
    seconds: float | None = None
    saved_bytes: int | None = None
    is_used: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """Something about a model that should be looked at.

    Args:
        kind: Such as ``non-finite``; a name for programs.
        names: Tensors or modules that it is about.
        text: What it is, in one sentence.
        is_wrong: Whether it is hardly ever meant.
    """

    kind: str
    names: tuple[str, ...]
    text: str
    is_wrong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardFacts:
    """One forward of the model.

    Args:
        call: How the model was called, as text.
        inputs: What went in.
        output: What came out; empty after a failure.
        mode: ``training``, ``evaluation`` or ``mixed``.
        input_bytes: Bytes of the tensors that went in.
        flops: Floating point operations of matrix products, convolutions and attention.
        saved_bytes: What autograd keeps for the backward, without parameters and inputs.
        seconds: Of the fastest forward measured; None where not measured.
        error: What the model raised, as one line; empty where it did not.
        failed_in: Path of the innermost module that was running then.
        failed_class: Its class.
        failed_inputs: What it had been given.
    """

    call: str
    inputs: str
    output: str = ""
    mode: str = ""
    input_bytes: int = 0
    flops: int = 0
    saved_bytes: int = 0
    seconds: float | None = None
    error: str = ""
    failed_in: str = ""
    failed_class: str = ""
    failed_inputs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMemory:
    """Bytes that one training step needs at least; ``activations`` is None where no forward was run."""

    optimizer: str
    parameters: int
    gradients: int
    state: int
    buffers: int
    batch: int = 0
    activations: int | None = None
    is_measured: bool = False

    @property
    def total(self) -> int:
        """All of it together."""
        known = (self.parameters, self.gradients, self.state, self.buffers, self.batch, self.activations or 0)
        return sum(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """Plain facts about one model at one moment.

    Args:
        name: What the user calls it; may be empty.
        class_name: Its class.
        modules: The tree, depth first, the root first.
        tensors: What it holds, each tensor once.
        concerns: What should be looked at, the wrong ones first.
        forward: The forward that was run; None where none was.
        memory: Of a training step, by optimizer, the asked one first.
        likely_input: An input size that would fit its first layer; empty where it cannot be told.
        notes: What a reader has to know, one sentence each.
    """

    name: str
    class_name: str
    modules: tuple[ModulePart, ...]
    tensors: tuple[HeldTensor, ...] = ()
    concerns: tuple[Concern, ...] = ()
    forward: ForwardFacts | None = None
    memory: tuple[TrainingMemory, ...] = ()
    likely_input: str = ""
    notes: tuple[str, ...] = ()

    @property
    def num_parameters(self) -> int:
        """Elements of all parameters, each counted once."""
        return sum(each.num_elements for each in self.tensors if each.held is Held.PARAMETER)

    @property
    def num_trainable(self) -> int:
        """Elements of the parameters that ask for a gradient."""
        return sum(each.num_elements for each in self.tensors if each.held is Held.PARAMETER and each.trainable)

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors held, each counted once."""
        return sum(each.num_bytes for each in self.tensors)


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRecord:
    """Several models that belong together.

    Args:
        name: What the user calls them.
        class_name: Class of the object that holds them.
        components: Models by the name of the attribute or key.
        others: Name and class of what else it holds.
        num_parameters: Elements of all parameters, those that several share counted once.
        num_bytes: Bytes of all tensors held, counted the same way.
        notes: What a reader has to know, one sentence each.
    """

    name: str
    class_name: str
    components: tuple[ModelRecord, ...]
    others: tuple[tuple[str, str], ...] = ()
    num_parameters: int = 0
    num_bytes: int = 0
    notes: tuple[str, ...] = ()
