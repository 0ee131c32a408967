"""This file is the judgement of a run: every rule asked, causes before consequences."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from torchmagic.analyses.source_lines import line_at
from torchmagic.records.compilation import GraphReplaysRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.causes import FOLLOWS_FROM, FOLLOWS_FROM_EARLIER, LAST_RESORTS
from torchmagic.rules.names import thresholds_of
from torchmagic.rules.rule import Rule
from torchmagic.rules.silencing import audible
from torchmagic.session.run import Run

# The group of the rules that compare the ranks of a run.
RANKS = "ranks"
# Groups of rules that need whole steps, of which captured graphs hide a part: what is seldom seen may often happen.
OF_WHOLE_STEPS = frozenset({"curves", "learning_rate", "parameters", "training_loop"})
_GROUPS = {each.id: each.group for each in RULES}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def judge(
    run: Run, on_failure: Callable[[str, Exception], None], *, rules: Sequence[Rule] = RULES
) -> tuple[Finding, ...]:
    """Return all findings of a run: roots before what follows from them, then by severity and confidence.

    Args:
        run: The run.
        on_failure: Told the id of a rule that raised, and the exception; the other rules go on.
        rules: Which rules are asked.
    """
    return settled(run, _found(run, on_failure, rules))


def judge_ranks(run: Run, on_failure: Callable[[str, Exception], None]) -> tuple[Finding, ...]:
    """Return the findings that a run has, and those about the ranks that were joined to it since, as ``judge`` would.

    Args:
        run: A run that was judged before its ranks were known.
        on_failure: As for ``judge``.
    """
    rules = [each for each in RULES if each.group == RANKS]
    asked = {each.id for each in rules}
    known = [finding for finding in run.findings if finding.rule not in asked]
    return settled(run, [*known, *_found(run, on_failure, rules)])


def settled(run: Run, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return what all rules together found as a reader wants it: causes named, order made, silence kept."""
    if any(record.whole for record in run.of(GraphReplaysRecord)):
        found = [finding for finding in found if _GROUPS.get(finding.rule) not in OF_WHOLE_STEPS]
    placed = [_placed(finding, run) for finding in _specific(_once(found))]
    return _in_order(audible(_with_causes(placed), run.settings.get("ignore", ())))


def _found(run: Run, on_failure: Callable[[str, Exception], None], rules: Sequence[Rule]) -> list[Finding]:
    thresholds = run.settings.get("thresholds", {})
    found: list[Finding] = []
    for each in rules:
        try:
            found.extend(each(run, **thresholds_of(each, thresholds)))
        except Exception as error:  # noqa: BLE001 - the wall: a rule's failure is never the user's
            on_failure(each.id, error)
    return found


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out what was found again, from records of a probe that was switched off and on."""
    found: dict[tuple[object, ...], Finding] = {}
    for each in findings:
        found.setdefault((each.rule, each.title, each.parameter, each.line), each)
    return list(found.values())


def _specific(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out the last resorts where something more specific was found."""
    loud = {finding.rule for finding in findings if finding.severity is not Severity.INFO}
    return [finding for finding in findings if finding.rule not in LAST_RESORTS or loud <= LAST_RESORTS]


def _placed(finding: Finding, run: Run) -> Finding:
    """Say in which cell or file the line is; the number of one that is in none would point to some other line."""
    source, file = (finding.source or "").strip(), finding.file
    if file in run.file_names.values():
        return finding
    if file in run.texts and (not finding.line or line_at(run.texts[file], finding.line) == source):
        return replace(finding, file=run.file_names.get(file))
    if not run.source or not finding.line or not source or line_at(run.source, finding.line) == source:
        return replace(finding, file=None)
    return replace(finding, line=None, file=None)


def _with_causes(findings: list[Finding]) -> list[Finding]:
    loud = [finding for finding in findings if finding.severity is not Severity.INFO]
    present = {finding.rule for finding in loud}
    at_once = {finding.rule for finding in loud if finding.step == 0}
    return [_led_back(finding, present, at_once) for finding in findings]


def _led_back(finding: Finding, present: set[str], at_once: set[str]) -> Finding:
    """Name the findings that this one follows from; what follows from them needs no cure of its own.

    Only numbers that are no numbers stay as loud as they are, whatever they follow from.
    """
    causes = _causes(finding.rule, present, at_once)
    if not causes:
        return finding
    broken = finding.severity is Severity.ERROR and finding.rule.startswith(("nonfinite", "exploding"))
    milder = finding.severity if broken else Severity.INFO
    return replace(finding, causes=causes, severity=milder)


def _causes(rule: str, present: set[str], at_once: set[str]) -> tuple[str, ...]:
    """Return which of the rules that were found are causes of another; some pairs can be so either way.

    Args:
        rule: Id of the other.
        present: Ids of the rules that were found, and are loud.
        at_once: Those that were true from the first step on.
    """
    began_later = rule not in at_once
    earlier = [cause for cause in FOLLOWS_FROM_EARLIER.get(rule, ()) if began_later and cause in at_once]
    usual = [cause for cause in FOLLOWS_FROM.get(rule, ()) if cause in present]
    if not began_later:
        usual = [each for each in usual if each in at_once or rule not in FOLLOWS_FROM_EARLIER.get(each, ())]
    return (*usual, *earlier)


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    key = lambda finding: (bool(finding.causes), _ORDER[finding.severity], -finding.confidence)  # noqa: E731 - a key
    return tuple(sorted(findings, key=key))
