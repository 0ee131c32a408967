"""This file is the speed: what decides how fast steps are and a profiler does not see, and cures as they were tried."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareRecord:
    """What the machine is capable of.

    Args:
        device: ``cpu`` or ``cuda``: where the parameters of the first model that ran are.
        capability: Instructions of the processor that torch uses, such as ``AVX512``, or the accelerator's compute
            capability, such as ``8.0``.
        half: Type with half the bits that it multiplies by instructions of its own, such as ``bfloat16``; empty where
            it has none.
        half_speed: How many times as fast as float32 it multiplied two matrices of that type; None where that was not
            measured.
        threads: Threads that torch may use within an operator.
        cores: Cores that the process may use.
    """

    device: str
    capability: str
    half: str
    half_speed: float | None
    threads: int
    cores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardRecord:
    """How a model was first run in training.

    Args:
        model: Name of the model.
        convolutions: Its two-dimensional convolutions.
        channels_last: Of these, those whose weights have the memory format ``channels_last``.
        input_channels_last: Whether its first input of four dimensions has that format, and no other.
        autocast: Whether autocast was on around it.
        compiled: Whether it is compiled.
        place: Line that called it.
    """

    model: str
    convolutions: int
    channels_last: int
    input_channels_last: bool
    autocast: bool
    compiled: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """How an optimizer goes through its parameters.

    Args:
        optimizer: Name of the optimizer.
        class_name: Its class.
        built_in: Whether torch itself wrote the class.
        parameters: Parameters that it owns.
        elements: Elements of all of them.
        median_elements: Elements of the parameter in the middle of their sizes.
        device: Device of its first parameter, such as ``cpu``.
        foreach: What was asked for; None where torch decides.
        fused: What was asked for; None where it was not.
        can_fuse: Whether its class takes ``fused``, and its parameters allow for it.
        place: Line of its first step.
    """

    optimizer: str
    class_name: str
    built_in: bool
    parameters: int
    elements: int
    median_elements: int
    device: str
    foreach: bool | None
    fused: bool | None
    can_fuse: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroedRecord:
    """A line that resets gradients by filling them with zeros: they were still there when the next backward began.

    Args:
        optimizer: Name of the optimizer, or of the model, whose ``zero_grad`` it calls.
        looks: Resets that were looked at.
        zeroed: Of these, those after which the gradients were there.
        place: The line.
    """

    optimizer: str
    looks: int
    zeroed: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputGradientRecord:
    """A model was given an input that asks for a gradient, is no parameter, and got one.

    Args:
        model: Name of the model.
        steps: Steps in which that was seen, of those looked at.
        looks: Steps looked at.
        shape: Shape of the input.
        place: Line that called the model.
    """

    model: str
    steps: int
    looks: int
    shape: tuple[int, ...]
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedCopyRecord:
    """A line that copied between host and device what had been copied before and had not changed since.

    Args:
        device: The device at the other end, such as ``cuda:0``.
        back: Whether it copied to the host.
        steps: Steps looked at, without the first; 0 where the run made none, and all of it was looked at.
        copies: Copies by the line in them.
        repeats: Of these, those of what had been copied before.
        seconds: Seconds that the host spent on the latter.
        num_bytes: Bytes of the latter.
        shape: Shape of the last of them.
        place: The line.
    """

    device: str
    back: bool
    steps: int
    copies: int
    repeats: int
    seconds: float
    num_bytes: int
    shape: tuple[int, ...]
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationGraphRecord:
    """Forwards of a line in evaluation mode that recorded a graph, and that no backward followed.

    Args:
        model: Name of the model.
        batches: Forwards.
        seconds: Seconds of them.
        run_seconds: Seconds that the run took.
        place: The line.
    """

    model: str
    batches: int
    seconds: float
    run_seconds: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTime:
    """What steps of one number of rows took.

    Args:
        rows: Rows that models were given in training, all forwards of the step together.
        steps: Steps of so many rows that nothing kept waiting.
        seconds: What the fastest of them took, without waiting for data: other work of the machine only adds to it.
    """

    rows: int
    steps: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTimesRecord:
    """What steps took by their number of rows, the most frequent first; profiled steps where there are no others.

    Args:
        times: At most 8 of them.
        device: ``cpu`` or ``cuda``; on the latter a step may end before its kernels do.
        place: Line that called the model.
    """

    times: tuple[BatchTime, ...]
    device: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStartRecord:
    """What starting the workers of a loader took, and waiting for their first batch.

    Args:
        loader: Name of the loader.
        workers: Its worker processes.
        passes: Passes begun.
        seconds: Seconds of all of them.
        first: Of these, those of the first pass, which nothing would save.
        run_seconds: Seconds that the run took.
        persistent: Whether workers outlive a pass.
        place: Line that goes through it.
    """

    loader: str
    workers: int
    passes: int
    seconds: float
    first: float
    run_seconds: float
    persistent: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRecord:
    """A cure that was tried on a copy of a model, in turn with a copy without it.

    Args:
        cure: ``channels_last``, ``bfloat16``, ``fused`` or ``compile``.
        subject: Name of the model or the optimizer.
        what: What was timed, such as ``forward and backward``.
        trials: Times that each copy was timed.
        before: Median seconds without the cure.
        after: Median seconds with it.
        spread: Half of the range in which the middle half of the ratios before to after lies.
        preparation: Seconds that it took once before that, as compiling does.
    """

    cure: str
    subject: str
    what: str
    trials: int
    before: float
    after: float
    spread: float
    preparation: float = 0.0
