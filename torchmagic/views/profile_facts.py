"""This file is the facts of a profile: what was profiled, how fast it was, and what was not seen."""

from collections.abc import Iterator

from torchmagic.analyses.profile_steps import spread
from torchmagic.analyses.profile_window import Window, step_seconds
from torchmagic.records.model import LoaderRecord
from torchmagic.records.speed import VerifiedRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number, as_share
from torchmagic.views.profile_words import as_operations, as_size, as_time, per_step, three_digits
from torchmagic.views.words import joined

_MOST_NAMES = 4
# A thread that is on a processor for a smaller share than this of its time waits for something.
_NEARLY_ALL = 0.98


def profile_facts(run: Run, window: Window) -> list[tuple[str, str]]:
    """Return names and values, those that are known."""
    profile = window.profile
    rows = [
        ("profiled", _profiled(window)),
        ("time per step", _time_per_step(window)),
        ("throughput", _throughput(run, window)),
        ("kernels run" if profile.device == "cuda" else "operators run", _busy(window)),
        ("operations", _operations(window)),
        ("not counted of them", ", ".join(_shortened(profile.uncounted))),
        ("peak memory", "" if profile.peak_bytes is None else f"{as_size(profile.peak_bytes)} allocated"),
        ("threads", _threads(window)),
        ("also asked for", joined(profile.options)),
        ("noted down", _noted(window)),
        ("tried on copies", _tried(run)),
        ("trace", profile.trace),
    ]
    return [(name, value) for name, value in rows if value]


def _tried(run: Run) -> str:
    """Return each cure that was tried, with how many times as fast it made what."""
    found = [each for each in run.of(VerifiedRecord) if each.before > 0 and each.after > 0]
    return "; ".join(f"{each.cure} of {each.subject} {each.before / each.after:.2f}x as fast" for each in found)


def _profiled(window: Window) -> str:
    profile = window.profile
    if not window.has_steps:
        return f"all {as_time(profile.seconds)} of it: no optimizer step was made"
    steps = "1 step" if profile.steps == 1 else f"{profile.steps:,} steps"
    left = [
        f"{number:,} {word}" for number, word in ((profile.waited, "waited"), (profile.warmed, "of warm-up")) if number
    ]
    before = f"; {joined(left)} before, left out" if left else ""
    return f"{steps} from step {profile.first_step:,} on, {as_time(profile.seconds)}{before}"


def _time_per_step(window: Window) -> str:
    seconds = step_seconds(window.phases) if window.phases is not None and window.has_steps else []
    if not seconds:
        return ""
    found = spread(seconds)
    if len(seconds) == 1:
        return as_time(found.middle)
    half = f"half of them {as_time(found.low)} to {as_time(found.high)}"
    return f"{as_time(found.middle)} median, {as_time(window.seconds)} mean; {half}; slowest {as_time(found.most)}"


def _throughput(run: Run, window: Window) -> str:
    if not window.has_steps or window.profile.seconds <= 0:
        return ""
    steps = f"{as_number(three_digits(window.profile.steps / window.profile.seconds))} steps/s"
    samples = _samples(run, window)
    return f"{as_number(three_digits(samples / window.profile.seconds))} samples/s, {steps}" if samples else steps


def _samples(run: Run, window: Window) -> int:
    """Return how many samples came in the window; 0 where a loader's batch size is not known."""
    sizes = {record.name: record.batch_size for record in run.of(LoaderRecord)}
    counts = [(each.batches, sizes.get(each.loader)) for each in window.costs.loaders]
    return sum(batches * (size or 0) for batches, size in counts) if all(size for _, size in counts) else 0


def _busy(window: Window) -> str:
    profile = window.profile
    processor = window.share(profile.processor)
    waits = f"; the thread was on a processor in {as_share(min(1.0, processor))}" if processor < _NEARLY_ALL else ""
    return f"in {as_share(window.share(profile.busy))} of the time{waits}"


def _operations(window: Window) -> str:
    profile = window.profile
    if profile.flops is None or profile.seconds <= 0:
        return ""
    speed = profile.flops / profile.seconds
    of_peak = ""
    if profile.peak_flops:
        share = as_share(speed / profile.peak_flops)
        of_peak = f", {share} of the {_flops(profile.peak_flops)}FLOP/s measured on this machine"
    amount = f"{_flops(window.per_step(profile.flops))}FLOP {per_step(window)}"
    return f"{amount}, {_flops(speed)}FLOP/s{of_peak}"


def _flops(number: float) -> str:
    """Write a number so that a unit can follow without a space of its own."""
    said = as_operations(number)
    return said if said[-1].isalpha() else f"{said} "


def _threads(window: Window) -> str:
    threads, cores = window.profile.threads, window.profile.cores
    return f"{threads} for operators, on {cores} {'core' if cores == 1 else 'cores'}"


def _shortened(names: tuple[str, ...]) -> Iterator[str]:
    yield from names[:_MOST_NAMES]
    if len(names) > _MOST_NAMES:
        yield f"{len(names) - _MOST_NAMES} more"


def _noted(window: Window) -> str:
    events = f"{window.profile.events:,} events" if window.profile.events else ""
    return f"{events}, read in {as_time(window.profile.reading)}" if events and window.profile.reading else events
