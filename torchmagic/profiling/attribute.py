"""This file turns what was collected into the records of a profile."""

import linecache
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from time import perf_counter

from torchmagic.probes.notebook_text import name_of_cell
from torchmagic.profiling.allocations import Allocations, allocations
from torchmagic.profiling.collected import Collected
from torchmagic.profiling.contexts import Contexts
from torchmagic.profiling.kernels import kernels
from torchmagic.profiling.line_costs import line_costs
from torchmagic.profiling.loader_costs import loader_costs
from torchmagic.profiling.module_costs import module_costs
from torchmagic.profiling.operator_costs import LEAST_SHARE, operator_costs, operators, uncounted
from torchmagic.profiling.ordered import Ordered
from torchmagic.profiling.phase_costs import phase_costs
from torchmagic.profiling.stack import Stack
from torchmagic.records.accelerator import AcceleratorRecord
from torchmagic.records.costs import AllocationsRecord, CostsRecord, LineCost
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord

Records = list[ProfileRecord | PhasesRecord | CostsRecord | AllocationsRecord | SourcesRecord | AcceleratorRecord]
_NANO = 1e-9
# How shells name the files of cells; only a terminal's has the number that the user sees.


def attribute(
    collected: Collected, *, keep_source: bool = True, file_names: Mapping[str, str] | None = None
) -> Records:
    """Return the records of a profile.

    Args:
        collected: What was collected; its events are gone through once.
        keep_source: Whether the text of the files that have lines is kept along.
        file_names: What to call files, such as ``this cell``, by the names that the places give.

    Returns:
        The profile, its phases and its costs; where memory was noted down, the allocations; where there is an
        accelerator, what it did; and the sources.
    """
    began = perf_counter()
    events = Ordered(collected)
    stack = Stack(collected, events)
    device, memory = bool(events.kernels), "memory" in collected.options
    counted = bool({"flops", "shapes"} & set(collected.options))
    ran = kernels(events.kernels, stack, collected)
    held = allocations(collected, stack.changes) if memory else None
    kept = (held.kept if held else {}) if memory else None
    costs = CostsRecord(
        modules=module_costs(collected, stack.contexts, device=device, flops=counted, kept=kept),
        lines=line_costs(collected, stack.contexts, copies_back=ran.copies_back, memory=memory),
        operators=operator_costs(collected, stack.contexts, device=device, flops=counted, memory=memory),
        loaders=loader_costs(collected, stack.batches),
    )
    phases = phase_costs(collected, stack.intervals)
    busy = ran.busy if device else _busy(stack.contexts)
    profile = _profile(collected, stack.contexts, events.count, busy, held, counted=counted, began=began)
    records: Records = [profile, phases, costs]
    records += [held.record] if held else []
    records += [ran.record] if ran.record is not None else []
    return [*records, _sources(costs.lines, file_names or {}, keep_source=keep_source)]


def _profile(
    collected: Collected,
    contexts: Contexts,
    count: int,
    busy: int,
    held: Allocations | None,
    *,
    counted: bool,
    began: float,
) -> ProfileRecord:
    length = collected.end - collected.begin
    return ProfileRecord(
        first_step=collected.first_step,
        steps=len(collected.step_ends),
        waited=collected.waited,
        warmed=collected.warmed,
        seconds=length * _NANO,
        busy=busy * _NANO,
        processor=(collected.processor_ends[-1] if collected.processor_ends else 0) * _NANO,
        events=count,
        options=collected.options,
        cut=collected.cut,
        device=collected.device,
        threads=collected.threads,
        cores=collected.cores,
        flops=sum(cell.flops for cell in operators(contexts)) if counted else None,
        uncounted=uncounted(contexts, LEAST_SHARE * length) if counted else (),
        peak_flops=collected.peak_flops,
        peak_bytes=held.peak if held else None,
        reading=perf_counter() - began,
        trace=collected.trace,
        notes=tuple(collected.notes),
    )


def _busy(contexts: Contexts) -> int:
    """Return the nanoseconds in which an operator ran in the thread that trains."""
    return sum(cell.own for cell in operators(contexts) if cell.context.main)


def _sources(lines: Iterable[LineCost], names: Mapping[str, str], *, keep_source: bool) -> SourcesRecord:
    files = dict.fromkeys(line.place.file for line in lines)
    texts = {file: text for file in files if keep_source and (text := "".join(linecache.getlines(file)))}
    return SourcesRecord(texts=texts, names={file: names.get(file) or _name(file) for file in files})


def _name(file: str) -> str:
    return name_of_cell(file, unnumbered="a cell") or PurePath(file).name
