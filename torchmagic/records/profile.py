"""This file is the profile: where time and memory of some steps went, by phase, module, line and operator.

All times are seconds, summed over the window, and all of them hold what the profiler itself adds to each operator.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRecord:
    """The window that was profiled, and how.

    Args:
        first_step: Optimizer steps made before it.
        steps: Optimizer steps in it; 0 where the code made none and all of it was profiled.
        waited: Steps left alone at the beginning.
        warmed: Steps profiled after those and thrown away.
        seconds: Wall time of the window.
        busy: Of these, those in which an operator ran; on an accelerator, those in which a kernel did.
        processor: Of these, processor time of the thread that trains.
        events: What the profiler noted down.
        options: What was asked for beyond time, such as ``memory``.
        cut: Why it ended before all steps were made: ``error``, ``interrupted``, ``ended`` or ``full``; else empty.
        device: ``cpu`` or ``cuda``.
        threads: Threads that torch may use within an operator.
        cores: Cores that the process may use.
        flops: Floating point operations of the window, two for a multiply and add; None where not counted.
        uncounted: Operators that compute much and whose operations nobody knows how to count.
        peak_flops: Most of them that this machine did in a second, as measured; None where not measured.
        peak_bytes: Most bytes allocated at once; None where memory was not profiled.
        reading: Seconds that it took to read what was noted down.
        trace: Path of the trace that was written; empty where none was.
        notes: What a reader has to know, one sentence each.
    """

    first_step: int
    steps: int
    waited: int
    warmed: int
    seconds: float
    busy: float
    processor: float
    events: int
    options: tuple[str, ...] = ()
    cut: str = ""
    device: str = "cpu"
    threads: int = 1
    cores: int = 1
    flops: int | None = None
    uncounted: tuple[str, ...] = ()
    peak_flops: float | None = None
    peak_bytes: int | None = None
    reading: float = 0.0
    trace: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasesRecord:
    """How the steps of the window split; the phases of a step add up to its wall time.

    Args:
        steps: Optimizer steps made before each; a single 0 where the window has none.
        data: Seconds of each waiting for a batch.
        transfer: Copying from host to device.
        forward: In models and losses.
        backward: In the backward pass.
        optimizer: In the optimizer, ``zero_grad`` and clipping included.
        idle: Of the rest, what the thread spent waiting, on no processor.
        other: What is left.
    """

    steps: tuple[int, ...]
    data: tuple[float, ...]
    transfer: tuple[float, ...]
    forward: tuple[float, ...]
    backward: tuple[float, ...]
    optimizer: tuple[float, ...]
    idle: tuple[float, ...]
    other: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesRecord:
    """Sources of the cells and files that have lines among the costs, as far as they may be kept.

    Args:
        texts: Text by the file name that the places give.
        names: What to call each file: ``this cell``, ``cell 3`` or the file's own name.
    """

    texts: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
