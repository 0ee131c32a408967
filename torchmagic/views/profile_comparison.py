"""This file is the comparison of two profiles: what became slower or faster per step, beyond the noise of the steps."""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.profile_difference import Change, Difference, profile_difference
from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.session.run import Run
from torchmagic.views.change import as_change
from torchmagic.views.page import Block, Cell, Page, Table, Text
from torchmagic.views.profile_words import PHASE_NAMES, as_size, as_time, in_unit, time_unit
from torchmagic.views.run_names import run_names
from torchmagic.views.words import joined

MOST_ROWS = 12
_NAMED = 2


def profile_comparison_page(run: Run, baseline: Run) -> Page:
    """Return what takes longer or shorter in a run than in the baseline, by phase, module, line and operator.

    Args:
        run: The run.
        baseline: The run that it is told against.

    Returns:
        A page without blocks where either has no profile.
    """
    after, before = profile_window(run), profile_window(baseline)
    name = run_names([baseline, run])[0]
    blocks = [] if before is None or after is None else list(_blocks(before, after, name))
    return Page(title=f"Against {name}", blocks=blocks)


def _blocks(before: Window, after: Window, name: str) -> Iterator[Block]:
    found = profile_difference(before, after)
    yield Text(text=_headline(after, found, name), strong=True)
    yield from (Text(text=each) for each in _warnings(before, after, name))
    phases = [_phase(each) for each in found.phases]
    sure = frozenset(index for index, each in enumerate(found.phases) if each.is_sure and each.seconds > 0)
    yield _table("Phases of a usual step", "phase", [*phases, found.step], marked=sure)
    kinds = (
        ("Modules", "module", found.modules),
        ("Lines", "line", found.lines),
        ("Operators", "operator", found.operators),
    )
    for title, column, changes in kinds:
        if changes:
            yield _table(f"{title} that changed, each without those that it calls", column, changes[:MOST_ROWS])
        if len(changes) > MOST_ROWS:
            yield Text(text=f"{len(changes) - MOST_ROWS} more {column}s changed.")
    if not any(changes for _, _, changes in kinds):
        yield Text(text="No module, line or operator changed beyond the noise of the steps.")


def _headline(after: Window, found: Difference, name: str) -> str:
    step, what = found.step, "A step" if after.has_steps else "The cell"
    old, new = step.before or 0.0, step.after or 0.0
    if not step.is_sure:
        span = f"they would have to differ by {as_time(step.noise)}"
        return f"{what} takes {as_time(new)}, in {name} {as_time(old)}: no more than chance, {span}."
    word = "slower" if step.seconds > 0 else "faster"
    changed = [each for each in found.phases if each.is_sure and (each.seconds > 0) == (step.seconds > 0)]
    changed.sort(key=lambda each: -abs(each.seconds))
    most = [f"{PHASE_NAMES[each.name]} by {as_time(abs(each.seconds))}" for each in changed[:_NAMED]]
    by = f"; most in {joined(most)}" if most else ""
    share = as_change(old, new)
    return f"{what} takes {as_time(new)}, {word} than the {as_time(old)} of {name}{f' ({share})' if share else ''}{by}."


def _warnings(before: Window, after: Window, name: str) -> Iterator[str]:
    """Say what makes two profiles unlike each other without the code having changed."""
    old, new = before.profile, after.profile
    if (old.device, old.threads) != (new.device, new.threads):
        yield f"The runs are not alike: {name} ran on {_machine(before)}, this one on {_machine(after)}."
    if set(old.options) != set(new.options):
        asked = [" and ".join(each) if each else "nothing" for each in (old.options, new.options)]
        yield f"{name} was profiled with {asked[0]} beyond time, this one with {asked[1]}; that costs time of its own."
    if before.has_steps != after.has_steps:
        yield "Only one of them made optimizer steps: a step of the one stands beside the whole of the other."
    if old.peak_bytes is not None and new.peak_bytes is not None:
        change = as_change(old.peak_bytes, new.peak_bytes)
        beside = "the same" if change == "the same" else f"{as_size(old.peak_bytes)} ({change})"
        yield f"Peak memory is {as_size(new.peak_bytes)}, in {name} {beside}."


def _machine(window: Window) -> str:
    threads = window.profile.threads
    return f"{window.profile.device} with {threads} {'thread' if threads == 1 else 'threads'}"


def _phase(change: Change) -> Change:
    return Change(name=PHASE_NAMES[change.name], before=change.before, after=change.after, noise=change.noise)


def _table(title: str, column: str, changes: Sequence[Change], *, marked: frozenset[int] = frozenset()) -> Table:
    size, unit = time_unit(max(each.before or 0.0, each.after or 0.0) for each in changes)
    rows: list[list[Cell]] = [
        [
            each.name,
            in_unit(each.before, size),
            in_unit(each.after, size),
            in_unit(each.seconds, size),
            _change(each),
        ]
        for each in changes
    ]
    return Table(
        title=title,
        columns=(column, f"before {unit}", f"now {unit}", f"change {unit}", "relative"),
        rows=rows,
        marked=marked,
    )


def _change(change: Change) -> str:
    if change.before is None:
        return "new"
    if change.after is None:
        return "gone"
    return as_change(change.before, change.after) if change.is_sure else "within noise"
