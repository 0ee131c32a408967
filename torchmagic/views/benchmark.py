"""This file is the view of a benchmark: what to take, what each mode is worth, and whether it computes the same."""

import math
from collections.abc import Iterator, Sequence

from torchmagic.analyses.counting import counted
from torchmagic.records.benchmark import BenchmarkRecord, ModeFailure, ModeResult
from torchmagic.views.numbers import as_bytes, as_seconds, as_share
from torchmagic.views.page import Block, Cell, Code, Facts, Fold, Line, Page, Plot, Table, Text

TITLE = "Benchmark"
PLAIN = "plain loop"
# A saving of memory that is worth a sentence: this share of the plain loop's peak, and no less than so many MiB.
LEAST_SAVING, LEAST_MIB = 0.1, 1.0
PAIRED = "A speed-up compares each step with the plain one beside it, so that it may not be the quotient of two times."
NO_DIFFERENCE = "no difference"
_MIB = 1 << 20
_COLUMNS = (
    "mode",
    "time per step",
    "speed-up",
    "99% sure",
    "results",
    "peak memory",
    "first step",
    "half of the steps",
)


def benchmark_page(found: BenchmarkRecord) -> Page:
    """Return the recommendation with its code, the table of all modes, their speed-ups, and what they differ in."""
    return Page(title=TITLE, blocks=list(_blocks(found)))


def _blocks(found: BenchmarkRecord) -> Iterator[Block]:
    results = [each for each in found.modes if isinstance(each, ModeResult)]
    best = next((each for each in results if each.mode == found.recommended), None)
    yield Text(text=_headline(best, results), strong=True)
    if best is not None:
        yield from _to_paste(best, found)
    saving = _saving(results, found)
    if saving is not None and saving is not best:
        yield Text(text=_told_saving(saving))
        yield Fold(title=f"Code for {saving.mode}", blocks=list(_to_paste(saving, found)))
    if not found.is_complete:
        yield Text(text="It was stopped before all modes had their turn.")
    yield _table(found)
    failures = [(each.mode, each.reason) for each in found.modes if isinstance(each, ModeFailure)]
    if failures:
        yield Text(text="Not measured:")
        yield Facts(rows=failures)
    yield from _figure(results)
    yield from _details(found, results)


def _headline(best: ModeResult | None, results: Sequence[ModeResult]) -> str:
    if best is None:
        if not results:
            return "No mode could be measured; below it says why."
        return "Nothing is recommended: no mode is faster beyond noise and computes the same."
    factor, low, high = (_factor(each) for each in (best.speedup, best.speedup_low, best.speedup_high))
    return (
        f"{best.mode} makes a step {factor} times as fast (99% sure: {low} to {high} times), and computes "
        f"the {best.agreement}."
    )


def _to_paste(mode: ModeResult, found: BenchmarkRecord) -> Iterator[Block]:
    yield Text(text=f"Put this {found.before}:")
    yield Code(text=mode.code)
    extra = mode.first_step - mode.step
    gain = (found.reference_step[0] if found.reference_step else 0.0) - mode.step
    if extra > 1 and gain > 0:
        pays = f"{math.ceil(extra / gain):,}"
        yield Text(text=f"Its first step takes {as_seconds(extra)} more: it pays after {pays} steps.")


def _saving(results: Sequence[ModeResult], found: BenchmarkRecord) -> ModeResult | None:
    """Return the mode that needs least memory, where that is worth a sentence."""
    plain = found.reference_memory or 0.0
    same = [each for each in results if each.memory is not None and each.agreement != "differs"]
    least = min(same, key=lambda each: each.memory or 0.0, default=None)
    if least is None or plain - (least.memory or 0.0) < max(LEAST_MIB, LEAST_SAVING * plain):
        return None
    return least


def _told_saving(mode: ModeResult) -> str:
    memory, plain = mode.memory or 0.0, mode.reference_memory or 0.0
    share = as_share(1 - memory / plain) if plain else ""
    return (
        f"{mode.mode} needs {share} less memory for a step ({as_bytes(memory * _MIB)} instead of "
        f"{as_bytes(plain * _MIB)}), at {_factor(1 / mode.speedup)} times the time."
    )


def _table(found: BenchmarkRecord) -> Table:
    rows: list[Sequence[Cell]] = []
    if found.reference_step is not None:
        step, low, high = found.reference_step
        memory = _memory(found.reference_memory)
        rows.append((PLAIN, as_seconds(step), "1.00", "", "", memory, "", _between(low, high)))
    rows += [_row(each) for each in found.modes]
    offset = len(rows) - len(found.modes)
    marked = {i for i, each in enumerate(found.modes, start=offset) if not _is_sound(each)}
    return Table(title=f"A step is {found.place}", columns=_COLUMNS, rows=rows, marked=frozenset(marked))


def _row(mode: ModeResult | ModeFailure) -> Sequence[Cell]:
    if isinstance(mode, ModeFailure):
        place = _COLUMNS.index("results")
        return (mode.mode, *[""] * (place - 1), "not measured", *[""] * (len(_COLUMNS) - place - 1))
    return (
        mode.mode,
        as_seconds(mode.step),
        _speedup(mode),
        _interval(mode),
        mode.agreement,
        _memory(mode.memory),
        as_seconds(mode.first_step),
        _between(mode.step_low, mode.step_high),
    )


def _speedup(mode: ModeResult) -> str:
    """Write the factor, and what is beyond noise about it."""
    return _factor(mode.speedup) if mode.verdict == NO_DIFFERENCE else f"{_factor(mode.speedup)} {mode.verdict}"


def _is_sound(mode: ModeResult | ModeFailure) -> bool:
    return isinstance(mode, ModeResult) and mode.agreement != "differs"


def _between(low: float, high: float) -> str:
    return f"{as_seconds(low)} to {as_seconds(high)}"


def _interval(mode: ModeResult) -> str:
    if not math.isfinite(mode.speedup_high):
        return f"{counted(mode.num_timed, 'step')} {'is' if mode.num_timed == 1 else 'are'} too few"
    return f"{_factor(mode.speedup_low)} to {_factor(mode.speedup_high)}"


def _factor(value: float) -> str:
    """Write a factor; a third digit behind the point is noise."""
    return f"{value:.2f}"


def _memory(mib: float | None) -> str:
    return "not measured" if mib is None else as_bytes(mib * _MIB)


def _figure(results: Sequence[ModeResult]) -> Iterator[Block]:
    """Draw each speed-up as an upright line from one end of its interval to the other."""
    told = [each for each in results if math.isfinite(each.speedup_high) and each.speedup_low > 0]
    if not told:
        return
    lines = [
        Line(name=each.mode, steps=(place,) * 3, values=(each.speedup_low, each.speedup, each.speedup_high))
        for place, each in enumerate(told, start=1)
    ]
    plain = Line(name=PLAIN, steps=(0, len(told) + 1), values=(1.0, 1.0))
    yield Plot(
        title="Speed-ups with their 99% intervals",
        lines=[plain, *lines],
        x_label="mode",
        y_label="times as fast",
    )


def _details(found: BenchmarkRecord, results: Sequence[ModeResult]) -> Iterator[Block]:
    if results:
        rows: list[list[Cell]] = [
            [each.mode, each.output_difference, each.gradient_difference, each.loss_difference, each.agreement]
            for each in results
        ]
        columns = ("mode", "outputs", "gradients", "losses", "judged")
        table = Table(title="Largest differences from the plain loop", columns=columns, rows=rows)
        yield Fold(title="Do they compute the same", blocks=[table, _losses(found, results)])
    notes = [(each.mode, note) for each in results for note in each.notes]
    if notes:
        yield Fold(title="Notes", blocks=[Facts(rows=notes)])
    seconds = as_seconds(found.seconds)
    yield Text(text=f"Measured on copies in {seconds}; nothing of yours was trained or changed. Loading is not timed.")
    if results:
        yield Text(text=PAIRED)


def _losses(found: BenchmarkRecord, results: Sequence[ModeResult]) -> Plot:
    curves = [(PLAIN, found.reference_losses), *((each.mode, each.losses) for each in results)]
    lines = [Line(name=name, steps=range(1, len(losses) + 1), values=losses) for name, losses in curves if losses]
    return Plot(title="Losses of the steps", lines=lines, x_label="step", y_label="loss")
