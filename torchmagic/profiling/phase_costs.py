"""This file splits the wall time of each step into phases."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from torchmagic.profiling.collected import Collected
from torchmagic.profiling.noted import Interval
from torchmagic.records.profile import PhasesRecord

PHASES = tuple(each.name for each in fields(PhasesRecord) if each.name not in {"steps", "idle", "other"})
# What follows the last step is one more, begun and not ended, where it takes more than this share of the window.
LEAST_REST = 0.01
_NANO = 1e-9


def phase_costs(collected: Collected, intervals: Sequence[Interval]) -> PhasesRecord:
    """Return the phases of each step; they add up to its wall time.

    Phases are times of the thread that trains. Between a model's forward and its backward, operators that made a node
    that a backward reached are forward too: the loss. On an accelerator, they are what the host did; backward lasts
    until the host goes on.

    Nobody says when a thread waits, but only how long it was on a processor. Waiting for data is waiting first, so
    ``idle`` is what was neither that nor on a processor, and at most what no phase accounts for: rather too little.

    Args:
        collected: The window, its steps and processor time.
        intervals: Times of phases, in the order of their beginnings; the inner ones follow those around them.
    """
    ends = _ends(collected)
    spent = [dict.fromkeys(PHASES, 0) for _ in ends]
    step = 0
    for start, end, phase in _flat(intervals):
        while step < len(ends) - 1 and ends[step] <= start:
            step += 1
        at, last = start, step
        while at < end and last < len(ends):
            until = min(end, ends[last])
            spent[last][phase] += max(0, until - at)
            at, last = max(at, until), last + 1
    columns = [tuple(each[phase] * _NANO for each in spent) for phase in PHASES]
    idle, other = zip(*_rests(collected, ends, spent), strict=True)
    steps = tuple(collected.first_step + number for number in range(len(ends))) if collected.step_ends else (0,)
    return PhasesRecord(steps=steps, **dict(zip(PHASES, columns, strict=True)), idle=idle, other=other)


def _ends(collected: Collected) -> list[int]:
    """Return the ends of the steps, and that of the window where a step had begun."""
    ends = list(collected.step_ends)
    rest = collected.end - (ends[-1] if ends else collected.begin)
    return [*ends, collected.end] if not ends or rest > LEAST_REST * (collected.end - collected.begin) else ends


def _rests(collected: Collected, ends: Sequence[int], spent: Iterable[dict[str, int]]) -> Iterator[tuple[float, float]]:
    """Yield idle and other seconds of each step."""
    processor = collected.processor_ends
    begin, before = collected.begin, 0
    for number, (end, phases) in enumerate(zip(ends, spent, strict=True)):
        rest = max(0, end - begin - sum(phases.values()))
        idle = 0
        if number < len(processor):
            waited = (end - begin) - (processor[number] - before)
            idle = min(rest, max(0, waited - phases["data"]))
            before = processor[number]
        begin = end
        yield idle * _NANO, (rest - idle) * _NANO


def _flat(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """Yield the times of phases without those within them, in order."""
    around: list[Interval] = []
    at = 0
    for each in intervals:
        while around and around[-1].end <= each.start:
            yield from _piece(at, around[-1].end, around[-1].phase)
            at = max(at, around.pop().end)
        if around:
            yield from _piece(at, each.start, around[-1].phase)
        around.append(each)
        at = max(at, each.start)
    while around:
        yield from _piece(at, around[-1].end, around[-1].phase)
        at = max(at, around.pop().end)


def _piece(start: int, end: int, phase: str) -> Iterator[Interval]:
    if end > start and phase in PHASES:
        yield Interval(start, end, phase)
