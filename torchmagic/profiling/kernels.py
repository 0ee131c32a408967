"""This file puts what ran on an accelerator down to the operators that launched it, and finds when nothing ran."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from torchmagic.profiling.collected import Collected, Event
from torchmagic.profiling.contexts import Cell
from torchmagic.profiling.line_costs import READ
from torchmagic.profiling.operator_costs import line_of
from torchmagic.profiling.stack import Stack
from torchmagic.records.accelerator import AcceleratorRecord, KernelCost, LaunchGap, StreamUse

MOST_KERNELS, MOST_STREAMS, MOST_GAPS = 20, 8, 8
# A kernel below this takes little longer than its launch (ns).
SHORT = 10_000
_NANO = 1e-9
_WHEN = itemgetter(0, 1)


class Kernels(NamedTuple):
    """What ran on the accelerator.

    Args:
        busy: Nanoseconds in which at least one kernel or copy ran.
        copies_back: Copies to the host by the line that asked for them, reads of single values left out.
        record: All of it; None where nothing ran.
    """

    busy: int
    copies_back: Counter[int]
    record: AcceleratorRecord | None


class _Gap(NamedTuple):
    """A time in which nothing ran, and what was launched at its end."""

    length: int
    late: Cell | None


def kernels(events: Sequence[Event], stack: Stack, collected: Collected) -> Kernels:
    """Add each kernel's time to the sum of the operator that launched it, and return what they were together.

    Args:
        events: Kernels and copies.
        stack: What the host did; its sums get their kernels' times.
        collected: The lines.
    """
    copies_back: Counter[int] = Counter()
    for event in events:
        cell = stack.operators.get(event.correlation)
        if cell is None:
            continue
        cell.device += event.end - event.start
        if event.name.startswith("Memcpy DtoH") and cell.name != READ:
            copies_back[cell.context.lines.index] += 1
    busy, together = _covered(events)
    if not events:
        return Kernels(busy, copies_back, None)
    gaps = list(_gaps(events, stack))
    record = AcceleratorRecord(
        kernels=len(events),
        short=sum(event.end - event.start < SHORT for event in events),
        busy=busy * _NANO,
        together=together * _NANO,
        idle=sum(gap.length for gap in gaps) * _NANO,
        dearest=tuple(_dearest(events, stack)),
        streams=tuple(_streams(events)),
        gaps=tuple(_by_line(gaps, collected)),
        memory=collected.memory,
    )
    return Kernels(busy, copies_back, record)


def _covered(events: Iterable[Event]) -> tuple[int, int]:
    """Return how long at least one stream is at work, and how long more than one."""
    changes = sorted(each for stream in _stretches(events) for start, end in stream for each in ((start, 1), (end, -1)))
    covered = together = at_work = before = 0
    for moment, change in changes:
        covered += (moment - before) * (at_work > 0)
        together += (moment - before) * (at_work > 1)
        at_work, before = at_work + change, moment
    return covered, together


def _stretches(events: Iterable[Event]) -> Iterator[list[tuple[int, int]]]:
    """Yield when each stream is at work, without overlaps within it."""
    streams: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in sorted(events, key=_WHEN):
        found = streams[event.thread]
        if found and event.start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], event.end)
        else:
            found.append((event.start, event.end))
    yield from streams.values()


def _gaps(events: Iterable[Event], stack: Stack) -> Iterator[_Gap]:
    until: int | None = None
    for event in sorted(events, key=_WHEN):
        if until is not None and event.start > until:
            yield _Gap(event.start - until, stack.operators.get(event.correlation))
        until = max(until or event.end, event.end)


def _by_line(gaps: Iterable[_Gap], collected: Collected) -> list[LaunchGap]:
    found: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for gap in gaps:
        where = (line_of(gap.late.context), gap.late.context.phase) if gap.late is not None else (-1, "other")
        found[where].append(gap.length)
    dearest = sorted(found.items(), key=lambda each: -sum(each[1]))[:MOST_GAPS]
    return [
        LaunchGap(
            place=collected.places[line] if line >= 0 else None,
            phase=phase,
            count=len(lengths),
            seconds=sum(lengths) * _NANO,
            longest=max(lengths) * _NANO,
        )
        for (line, phase), lengths in dearest
    ]


def _dearest(events: Iterable[Event], stack: Stack) -> list[KernelCost]:
    times, calls = Counter[str](), Counter[str]()
    operators: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for event in events:
        times[event.name] += event.end - event.start
        calls[event.name] += 1
        cell = stack.operators.get(event.correlation)
        operators[event.name][cell.name if cell is not None else ""] += event.end - event.start
    return [
        KernelCost(name=name, calls=calls[name], seconds=spent * _NANO, operator=operators[name].most_common(1)[0][0])
        for name, spent in times.most_common(MOST_KERNELS)
    ]


def _streams(events: Iterable[Event]) -> list[StreamUse]:
    times, counts = Counter[int](), Counter[int]()
    for event in events:
        times[event.thread] += event.end - event.start
        counts[event.thread] += 1
    return [
        StreamUse(stream=stream, kernels=counts[stream], seconds=spent * _NANO)
        for stream, spent in times.most_common(MOST_STREAMS)
    ]
