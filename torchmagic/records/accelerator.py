"""This file is the accelerator: what ran on it in a profile's window, when it had nothing to do, and its memory.

All times are seconds, summed over the window.
"""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCost:
    """Kernels, or copies, of one name.

    Args:
        name: Its name, as the accelerator's own library gives it.
        calls: Times it ran.
        seconds: What that took.
        operator: The operator that launched most of it; empty where unknown.
    """

    name: str
    calls: int
    seconds: float
    operator: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamUse:
    """What ran on one stream.

    Args:
        stream: Its number, as torch's profiler gives it.
        kernels: Kernels and copies.
        seconds: What they took.
    """

    stream: int
    kernels: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchGap:
    """Times in which nothing ran, by what was launched at their end: it came too late.

    Args:
        place: Line that launched it; None where unknown.
        phase: Phase in which that was.
        count: How many there were.
        seconds: What they took.
        longest: The longest of them.
    """

    place: Place | None
    phase: str
    count: int
    seconds: float
    longest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySegments:
    """What torch has reserved of the accelerator's memory, at the end of the window.

    Args:
        segments: Pieces in which it was reserved.
        reserved: Bytes of them.
        allocated: Of these, bytes that tensors hold.
        freed: Bytes that tensors have let go of and that wait for a stream.
        largest_free: Bytes of the largest piece that a tensor could get without more being reserved.
    """

    segments: int
    reserved: int
    allocated: int
    freed: int
    largest_free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorRecord:
    """What an accelerator did in the window.

    Args:
        kernels: Kernels and copies that ran.
        short: Of these, those of less than 10 µs.
        busy: Seconds in which one ran.
        together: Of these, seconds in which more than one stream was at work.
        idle: Seconds between the first and the last of them in which none ran.
        dearest: By name, the dearest first, at most 20.
        streams: The busiest first, at most 8.
        gaps: By the line that launched too late, the dearest first, at most 8.
        memory: Its memory; None where memory was not profiled.
    """

    kernels: int
    short: int
    busy: float
    together: float
    idle: float
    dearest: tuple[KernelCost, ...] = ()
    streams: tuple[StreamUse, ...] = ()
    gaps: tuple[LaunchGap, ...] = ()
    memory: MemorySegments | None = None
