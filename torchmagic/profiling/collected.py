"""This file is what was collected: the events of the profiler's window, and what is needed to read them.

The names of our own ranges among the events, each followed by an index or a word:

- ``tm:m:<index>`` one call of a module; the index is one into ``Collected.modules``.
- ``tm:l:<index>`` one run of a line; the index is one into ``Collected.places``.
- ``tm:p:<phase>`` a phase: ``forward``, ``backward`` or ``optimizer``. They nest where a closure makes them; the
  innermost counts. Waits for data are torch's own ``enumerate(DataLoader)#...``.
- ``tm:s:<step>`` empty, at the end of an optimizer step; the number is that of the steps made before it.
- ``tm:d:<index>`` empty, right after a batch came; the index is one into ``Collected.loaders``, and the wait is the
  last ``enumerate(DataLoader)#...`` before it in its thread.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torchmagic.records.accelerator import MemorySegments
from torchmagic.records.place import Place

MODULE, LINE, PHASE, STEP, BATCH = "tm:m:", "tm:l:", "tm:p:", "tm:s:", "tm:d:"
MEMORY = "[memory]"
# Calls of the accelerator's runtime, which the profiler puts into threads of other numbers than the operators'.
LAUNCH = re.compile(r"(cuda|cu|hip)[A-Z]\w*")


class Event(NamedTuple):
    """One event of the profiler.

    Args:
        start: Nanoseconds of the profiler's clock.
        end: Likewise; never before ``start``.
        name: The operator's, the kernel's or the range's; ``[memory]`` for an allocation or a release.
        thread: Number of its thread, the profiler's own; of a kernel, its stream.
        sequence: Number of the autograd node that it made, or that it runs the backward of; -1 for none.
        forward_thread: Of a backward node, the thread of its forward; 0 for others.
        bytes: Bytes allocated, or, below zero, released; None for all but ``[memory]``.
        shapes: Shapes of the inputs, where shapes or operations were asked for; else None.
        dtypes: Names of the inputs' types, such as ``float``, likewise.
        concrete: Inputs that are no tensors, likewise; None in the place of those that are.
        device: Whether it ran on an accelerator: a kernel or a copy; of ``[memory]``, the accelerator's memory.
        correlation: What connects a kernel with the operator that launched it: the operator's own number, and, of a
            kernel or a launch, the number of its operator, or, where no operator launched it, a number below zero that
            both have; 0 for none. Of an allocation, what connects it with its
            release: the address, or 0 where it is not known.
    """

    start: int
    end: int
    name: str
    thread: int
    sequence: int = -1
    forward_thread: int = 0
    bytes: int | None = None
    shapes: list[Any] | None = None
    dtypes: list[str] | None = None
    concrete: list[Any] | None = None
    device: bool = False
    correlation: int = 0


class ModuleSite(NamedTuple):
    """A module that was called.

    Args:
        model: Name of its model.
        path: Its path in it, empty for the root.
        class_name: Its class.
        dtype: Of its own parameters, without ``torch.``; empty where it has none.
    """

    model: str
    path: str
    class_name: str
    dtype: str = ""


class LoaderSite(NamedTuple):
    """A loader that gave batches in the window.

    Args:
        name: Its name.
        workers: Its worker processes.
        busy: Share of the window in which its workers computed, 0 to 1; None where unknown.
    """

    name: str
    workers: int
    busy: float | None = None


@dataclass(kw_only=True)
class Collected:
    """What the profiler noted down in its window, and how.

    Args:
        events: In no promised order; may be gone through only once. None lies wholly outside the window. Torch's own
            are ``Unread``, and come in columns.
        begin: Beginning of the window, in nanoseconds of the profiler's clock.
        end: Its end, likewise.
        step_ends: Ends of its optimizer steps, likewise; empty where the code made none.
        processor_ends: Nanoseconds of processor time of the thread since ``begin``, at each of ``step_ends`` and then
            at ``end``.
        thread: The thread that trains, by the events' numbers.
        first_step: Optimizer steps made before the window.
        waited: Steps left alone at the beginning.
        warmed: Steps profiled after those and thrown away.
        modules: Modules that were called, in the order of ``named_modules``, model after model.
        places: Lines that have ranges.
        silent: True counts of the lines, by index, that ran too often for all their runs to be timed.
        silent_modules: Likewise of modules.
        loaders: Loaders that gave batches.
        options: What was asked for beyond time, such as ``memory``.
        cut: Why the window ended early: ``error``, ``interrupted``, ``ended`` or ``full``; else empty.
        device: ``cpu`` or ``cuda``.
        threads: Threads that torch may use within an operator.
        cores: Cores that the process may use.
        peak_flops: Most operations that the machine did in a second, as measured; None where not measured.
        memory: What was reserved of the accelerator's memory as the window ended; None where that was not asked for.
        trace: Path of the trace that was written; empty where none was.
        notes: What a reader has to know, one sentence each.
    """

    events: Iterable[Event]
    begin: int
    end: int
    step_ends: list[int] = field(default_factory=list)
    processor_ends: list[int] = field(default_factory=list)
    thread: int = 1
    first_step: int = 0
    waited: int = 0
    warmed: int = 0
    modules: list[ModuleSite] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    silent: dict[int, int] = field(default_factory=dict)
    silent_modules: dict[int, int] = field(default_factory=dict)
    loaders: list[LoaderSite] = field(default_factory=list)
    options: tuple[str, ...] = ()
    cut: str = ""
    device: str = "cpu"
    threads: int = 1
    cores: int = 1
    peak_flops: float | None = None
    memory: MemorySegments | None = None
    trace: str = ""
    notes: list[str] = field(default_factory=list)
