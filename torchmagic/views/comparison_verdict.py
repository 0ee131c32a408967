"""This file is the verdict on two runs: in what one differs from the other, in one sentence."""

from collections import Counter

from torchmagic.analyses.finding_difference import without_match
from torchmagic.analyses.run_differences import (
    causes,
    compared,
    first_values_differ,
    has_source,
    other_texts,
    random_numbers_differ,
    seeds_are_known,
)
from torchmagic.analyses.run_facts import Value
from torchmagic.analyses.source_difference import num_changed, source_difference
from torchmagic.records.finding import Severity
from torchmagic.session.run import Run
from torchmagic.views.comparison_losses import equal_curves, loss_words
from torchmagic.views.numbers import as_number
from torchmagic.views.words import joined

# A sentence with more causes than these is read by nobody; the tables have them all.
MOST_CAUSES = 4
# A changed line is quoted in the sentence up to this length.
MOST_LETTERS = 90


def verdict_sentence(run: Run, other: Run, *, of: str, name: str) -> str:
    """Say in what a run differs from another: its causes, where its loss ends, and its findings.

    Args:
        run: The run that the other is told against.
        other: The other run.
        of: Name of the first.
        name: Name of the other.
    """
    curves, findings = equal_curves(run, other), _findings(run, other)
    behind = _causes(run, other) or ([] if curves is not None else _traces(run, other))
    both = joined([*compared(run, other), "findings"])
    if not behind and not findings and curves is not None:
        return f"No difference found between {of} and {name} in {both}{f'; {curves}' if curves else ''}."
    told = [part for part in (curves or loss_words(run, other, of=of), findings) if part]
    if behind:
        return "; ".join([f"{_sentence(name)} differs from {of} by {joined(behind)}", *told]) + "."
    kept = joined(compared(run, other))
    said = f"Nothing recorded of what {name} was given differs from {of}{f' in {kept}' if kept else ''}"
    said = "; ".join([said, *told]) + "."
    return said if curves is not None else f"{said} {_unrecorded(run, other)}"


def _causes(run: Run, other: Run) -> list[str]:
    found = [_cause(fact, *values) for fact, values in causes(run, other).items()]
    sources = [each for each in (_source(run, other), _other_source(run, other)) if each]
    room = MOST_CAUSES - len(sources)
    told = found if len(found) <= room else [*found[: room - 1], f"{len(found) - room + 1} more settings"]
    return told + sources


def _traces(run: Run, other: Run) -> list[str]:
    """Return what differs as training began though nothing that was recorded before it does: its cause is not known."""
    traces = {
        "torch's random numbers, which came from another place of the same seed's sequence as training began": (
            random_numbers_differ(run, other)
        ),
        "the values that the model was first given": first_values_differ(run, other),
    }
    return [words for words, seen in traces.items() if seen]


def _unrecorded(run: Run, other: Run) -> str:
    """Say what may be behind a difference, as it was not compared."""
    unknown = [] if has_source(run) and has_source(other) else ["the source"]
    unknown += [] if seeds_are_known(run, other) else ["another seed"]
    unknown += ["data" if first_values_differ(run, other) is None else "later data"]
    unknown += [
        "values set outside of the source, such as the limit of a clipping or the probability of a dropout function",
        "other generators of random numbers than torch's",
    ]
    last = "an operation that does not give the same result each time"
    return f"What is not recorded may explain it: {', '.join(unknown)}, or {last}."


def _other_source(run: Run, other: Run) -> str:
    names = [each.name for each in other_texts(run, other)]
    return f"the source of {joined(names)}" if names else ""


def _source(run: Run, other: Run) -> str:
    """Say how many lines were changed, and quote a short one that is alone."""
    if not has_source(run) or not has_source(other):
        return ""
    lines = num_changed(run.source, other.source)
    if lines != 1:
        return f"{lines} lines of source" if lines else ""
    signed = source_difference(run.source, other.source, around=0)
    changed = {sign: line.strip() for sign, line in signed if sign in "+-"}
    quoted = " → ".join(changed[sign] for sign in "-+" if changed.get(sign))
    return f"one line of source ({quoted})" if quoted and len(quoted) <= MOST_LETTERS else "one line of source"


def _cause(fact: str, before: Value | None, after: Value | None) -> str:
    if before is None or after is None:
        return f"{fact} ({_value(after)} only there)" if before is None else f"no {fact} ({_value(before)} before)"
    return f"{fact} {_value(before)} → {_value(after)}"


def _value(value: Value | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return as_number(value) if isinstance(value, int | float) else str(value)


def _findings(run: Run, other: Run) -> str:
    """Say how many findings of each severity there are more or fewer."""
    gained, lost = without_match(other.findings, run.findings), without_match(run.findings, other.findings)
    more, fewer = Counter(each.severity for each in gained), Counter(each.severity for each in lost)
    return ", ".join(
        f"{_count(number[severity], severity)} {word}"
        for severity in Severity
        for number, word in ((more, "more"), (fewer, "fewer"))
        if number[severity]
    )


def _count(number: int, severity: Severity) -> str:
    if number == 1:
        return f"one {severity.value}"
    return f"{number} {severity.value}{'' if severity is Severity.INFO else 's'}"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"
