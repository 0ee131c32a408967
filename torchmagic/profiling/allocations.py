"""This file is memory over a window: what was allocated where, when there was most, and what held it then.

A release ends the allocation at its address; where torch does not tell that, the last of its size that still lives.
What is released without one was there before the window.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchmagic.profiling.collected import Collected
from torchmagic.profiling.noted import Change
from torchmagic.profiling.operator_costs import line_of, module_name
from torchmagic.records.costs import AllocationsRecord

MOST_MOMENTS = 400
MOST_HOLDERS = 12
BEFORE = "before"
# The allocation that a release ends, where it was made before the window.
_UNKNOWN = -1
_NANO = 1e-9


class Allocations(NamedTuple):
    """Memory over a window.

    Args:
        record: How it went.
        peak: The most bytes at once.
        kept: Bytes by module that were allocated in its forward and lived on after it.
    """

    record: AllocationsRecord
    peak: int
    kept: dict[int, int]


def allocations(collected: Collected, changes: Sequence[Change]) -> Allocations | None:
    """Return how memory went; None where nothing was allocated. On an accelerator, it is the accelerator's memory."""
    on_device = any(change.device for change in changes)
    changes = [change for change in changes if change.device == on_device]
    if not changes:
        return None
    ended = _ended(changes)
    before = -sum(change.size for change, number in zip(changes, ended, strict=True) if number == _UNKNOWN)
    totals = list(_totals(changes, before))
    peak = max(range(len(totals)), key=totals.__getitem__)
    history = _History(collected, changes, ended, before)
    record = _record(history, set(_moments(collected, changes, totals)), peak)
    return Allocations(record, totals[peak], _kept(changes, ended))


class _History(NamedTuple):
    """All changes, the allocation that each ends or makes, and the bytes that were there before."""

    collected: Collected
    changes: Sequence[Change]
    ended: Sequence[int]
    before: int


def _ended(changes: Sequence[Change]) -> list[int]:
    """Return of each release the number of the allocation that it ends, and of each allocation its own."""
    living: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    ended = []
    for number, change in enumerate(changes):
        same = living[change.address, abs(change.size)]
        if change.size >= 0:
            same.append(number)
            ended.append(number)
        else:
            ended.append(same.pop() if same else _UNKNOWN)
    return ended


def _totals(changes: Sequence[Change], before: int) -> Iterator[int]:
    total = before
    for change in changes:
        total += change.size
        yield total


def _moments(collected: Collected, changes: Sequence[Change], totals: Sequence[int]) -> list[int]:
    """Return the changes that are shown: in each of many equal times the one with the most bytes, and the last one."""
    length, buckets = max(1, collected.end - collected.begin), MOST_MOMENTS // 2
    most: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, change in enumerate(changes):
        bucket = min((change.time - collected.begin) * (buckets - 1) // length, buckets - 1)
        last[bucket] = number
        if bucket not in most or totals[number] > totals[most[bucket]]:
            most[bucket] = number
    return sorted({*most.values(), *last.values()})


def _record(history: _History, moments: set[int], peak: int) -> AllocationsRecord:
    collected, changes, ended, before = history
    held = Counter({BEFORE: before})
    seconds, rows = [], []
    for number, change in enumerate(changes):
        held[_phase(changes, ended[number])] += change.size
        if number in moments:
            seconds.append((change.time - collected.begin) * _NANO)
            rows.append(dict(held))
    top = changes[peak]
    line, module = line_of(top.context), top.context.modules.index
    return AllocationsRecord(
        seconds=tuple(seconds),
        phases={phase: tuple(row.get(phase, 0) for row in rows) for phase in held},
        peak=(top.time - collected.begin) * _NANO,
        step=collected.first_step + sum(end <= top.time for end in collected.step_ends),
        phase=top.context.phase,
        module=module_name(collected.modules[module]) if module >= 0 else "",
        place=collected.places[line] if line >= 0 else None,
        holders=_holders(history, peak),
    )


def _phase(changes: Sequence[Change], number: int) -> str:
    return BEFORE if number == _UNKNOWN else changes[number].context.phase


def _holders(history: _History, last: int) -> tuple[tuple[str, int], ...]:
    """Return what holds memory after a change, in words, the largest first."""
    collected, changes, ended, before = history
    held = Counter({"what was there before": before})
    for number, change in enumerate(changes[: last + 1]):
        if ended[number] == _UNKNOWN:
            held["what was there before"] += change.size
            continue
        context = changes[ended[number]].context
        module = context.modules.index
        phase = context.phase if context.phase != "other" else "what belongs to no phase"
        held[f"{phase} of {module_name(collected.modules[module])}" if module >= 0 else phase] += change.size
    return tuple((words, size) for words, size in held.most_common(MOST_HOLDERS) if size > 0)


def _kept(changes: Sequence[Change], ended: Sequence[int]) -> dict[int, int]:
    """Return the bytes by module that were allocated within its forward and were not released before it ended."""
    released = {ended[number]: change.time for number, change in enumerate(changes) if change.size < 0 <= ended[number]}
    kept: defaultdict[int, int] = defaultdict(int)
    for number, change in enumerate(changes):
        if change.size <= 0 or change.context.backward:
            continue
        call, seen = change.modules, set()
        while call is not None:
            if call.number not in seen and released.get(number, call.end) >= call.end:
                kept[call.number] += change.size
            seen.add(call.number)
            call = call.outer
    return dict(kept)
