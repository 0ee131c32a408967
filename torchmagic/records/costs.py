"""This file is the costs: what each module, line, operator and loader of a profile took, in time and in memory.

All times are seconds, summed over the window, and all of them hold what the profiler itself adds to each operator.
"""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCost:
    """What one module cost.

    Args:
        model: Name of the model.
        path: Its path, empty for the root.
        class_name: Its class.
        calls: Times it was called.
        forward: Seconds of its forward, with what it calls.
        forward_own: Of these, without the modules that it calls.
        backward: Seconds of the backward of what it computed, with the modules that it calls.
        backward_own: Of these, without them.
        device: Seconds of kernels for both, with the modules that it calls; None without an accelerator.
        flops: Operations of both, with the modules that it calls; None where not counted.
        allocated: Bytes allocated in its forward, with the modules that it calls; None where memory was not profiled.
        kept: Of these, those that were not freed before the forward ended.
        dtype: Of its own parameters, without ``torch.``; empty where it has none.
    """

    model: str
    path: str
    class_name: str
    calls: int
    forward: float
    forward_own: float
    backward: float = 0.0
    backward_own: float = 0.0
    device: float | None = None
    flops: int | None = None
    allocated: int | None = None
    kept: int | None = None
    dtype: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCost:
    """What one line of the user's cost.

    Args:
        place: The line.
        calls: Times it ran.
        total: Seconds, with what it calls.
        own: Of these, without the user's other lines that it calls.
        operators: Of the latter, those in which an operator ran; the rest is Python's.
        backward: Seconds of the backward of what it computed, other lines that it calls left out.
        elsewhere: Of its own, seconds that are in ``backward`` of lines, be it this one, that computed what it is of:
            it called that backward.
        reads: Times it made the host wait for a tensor's value.
        allocated: Bytes allocated, with what it calls; None where memory was not profiled.
        complete: Whether all its runs were timed; a line that runs very often is timed only at first.
    """

    place: Place
    calls: int
    total: float
    own: float
    operators: float = 0.0
    backward: float = 0.0
    elsewhere: float = 0.0
    reads: int = 0
    allocated: int | None = None
    complete: bool = True

    @property
    def caused(self) -> float:
        """Seconds of the line and of the backward of what it computed; each second counts for one line."""
        return max(0.0, self.own - self.elsewhere) + self.backward


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCost:
    """What one operator cost, in one phase.

    Args:
        name: Its name, such as ``aten::addmm``.
        phase: ``data``, ``transfer``, ``forward``, ``backward``, ``optimizer`` or ``other``.
        calls: Times it ran.
        total: Seconds, with the operators that it calls.
        own: Of these, without them.
        device: Seconds of its own kernels; None without an accelerator.
        shapes: Of its inputs; empty where shapes were not asked for, and operators of other shapes then count along.
        dtype: Of its inputs, where shapes were asked for.
        flops: Operations; None where not counted.
        allocated: Bytes allocated by itself, freed ones left out; None where memory was not profiled.
        module: Path of the module, after the model's name, where most of its own time was spent; empty for none.
        place: Line at which most of its own time was spent.
    """

    name: str
    phase: str
    calls: int
    total: float
    own: float
    device: float | None = None
    shapes: str = ""
    dtype: str = ""
    flops: int | None = None
    allocated: int | None = None
    module: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderCost:
    """What waiting for one loader's batches cost.

    Args:
        loader: Its name.
        workers: Its worker processes.
        batches: Batches that came.
        waits: Seconds waited for each, at most 200 of them, the longest kept.
        total: Seconds waited for all.
        busy: Share of the window in which its workers computed, 0 to 1; None where unknown.
        place: Line that asked for most of them.
    """

    loader: str
    workers: int
    batches: int
    waits: tuple[float, ...]
    total: float
    busy: float | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationsRecord:
    """Memory over the window, as allocated after its beginning or known from before.

    Args:
        seconds: Moments, at most 400, rising.
        phases: Bytes at each moment by the phase in which they were allocated, with ``before`` for what was there.
        peak: The moment of the most bytes.
        step: Optimizer steps made before it.
        phase: Phase that ran then.
        module: Module that ran then, its path after the model's name; empty for none.
        place: Line that ran then.
        holders: At that moment, what was allocated where and not yet freed: words such as ``forward of net.block``
            with bytes, the largest first, at most 12.
    """

    seconds: tuple[float, ...]
    phases: dict[str, tuple[int, ...]]
    peak: float
    step: int
    phase: str
    module: str
    place: Place | None
    holders: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CostsRecord:
    """What everything in the window cost, the dearest first.

    Args:
        modules: Modules in the order of ``named_modules``, model after model.
        lines: Lines in the order of their files.
        operators: Operators.
        loaders: Loaders.
    """

    modules: tuple[ModuleCost, ...] = ()
    lines: tuple[LineCost, ...] = ()
    operators: tuple[OperatorCost, ...] = ()
    loaders: tuple[LoaderCost, ...] = ()
