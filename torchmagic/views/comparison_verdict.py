"""This file is the verdict on two runs: in what one differs from the other, in one sentence."""

from collections import Counter

from torchmagic.analyses.finding_difference import without_match
from torchmagic.analyses.run_facts import Value, differing, environment_facts, setting_facts, training_facts
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
# What follows from another difference is told by the tables alone.
FOLLOWS = ("trainable parameters", "decay apart from the gradient")
FACTS = (("training", training_facts), ("settings", setting_facts), ("environment", environment_facts))


def verdict_sentence(run: Run, other: Run, *, of: str, name: str) -> str:
    """Say in what a run differs from another: its causes, where its loss ends, and its findings.

    Args:
        run: The run that the other is told against.
        other: The other run.
        of: Name of the first.
        name: Name of the other.
    """
    causes, findings = _causes(run, other), _findings(run, other)
    curves = equal_curves(run, other)
    if not causes and not findings and curves is not None:
        same = f"; {curves}" if curves else ""
        return f"No difference found between {of} and {name} in {joined(_compared(run, other))}{same}."
    told = [part for part in (curves or loss_words(run, other, of=of), findings) if part]
    if causes:
        return "; ".join([f"{_sentence(name)} differs from {of} by {joined(causes)}", *told]) + "."
    said = "; ".join([f"{_sentence(name)} was given the same as {of} in {joined(_compared(run, other))}", *told]) + "."
    if curves is not None:
        return said
    return f"{said} Another seed would explain it, or an operation that does not give the same result each time."


def _causes(run: Run, other: Run) -> list[str]:
    found = [
        _cause(fact, *values)
        for _, facts in FACTS
        for fact, values in differing([facts(run), facts(other)]).items()
        if not fact.startswith(FOLLOWS)
    ]
    source = _source(run, other)
    room = MOST_CAUSES - bool(source)
    causes = found if len(found) <= room else [*found[: room - 1], f"{len(found) - room + 1} more settings"]
    return causes + ([source] if source else [])


def _source(run: Run, other: Run) -> str:
    """Say how many lines were changed, and quote a short one that is alone."""
    if not run.source.strip() or not other.source.strip():
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


def _compared(run: Run, other: Run) -> list[str]:
    """Return the names of what both runs kept, so that it could be compared."""
    kept = ["source"] if run.source.strip() and other.source.strip() else []
    return [*kept, *(name for name, facts in FACTS if facts(run) and facts(other)), "findings"]


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
