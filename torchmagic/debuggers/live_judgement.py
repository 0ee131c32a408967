"""This file is the judgement of a run that goes on: a few rules at a time, at a bounded cost, and no false alarm."""

from collections.abc import Callable, Iterator, Sequence
from time import thread_time_ns

from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.judgement import settled
from torchmagic.rules.names import thresholds_of
from torchmagic.rules.rule import Rule
from torchmagic.session.interrupts import pass_on
from torchmagic.session.run import Run

# Most of the run's time that judging may take, as a share of what statistics may take: it comes out of their budget.
SHARE_OF_BUDGET = 0.1
# Seconds of a run before it is first judged, and between two judgements.
SECONDS_BETWEEN = 1.0
# The cell is never held up for longer than about this (ns); a rule that takes so long twice is left for the end: once
# may be the loading of what it needs.
MOST_AT_ONCE = 4_000_000
# What these say is about the whole course of a run or a pass: its best value, its last part, the share of its steps in
# which something happened. It may hold on a part of a run and no longer on the whole; so it is said at the end alone.
ONLY_AT_END = frozenset(
    {
        "amp-overflow-skips",
        "clip-saturation",
        "data-bound",
        "input-not-normalised",
        "loss-not-decreasing",
        "overfitting",
        "params-unchanged",
        "plateau",
        "scheduler-mode",
        "scheduler-not-stepped",
        "scheduler-step-frequency",
        "uniform-prediction",
        "update-too-large",
        "update-too-small",
    }
)

# Of a run whose probes were switched while it went on they are not said at all, and neither is what these say: that
# something never happened, which may have happened while nobody looked.
ONLY_ON_THE_WHOLE = ONLY_AT_END | {"step-missing", "unused-parameter"}


class LiveJudgement:
    """Judges a run while it goes on, between its steps.

    A warning is shown when two judgements in a row have found it; an error at once.

    Args:
        run: The run.
        share: Most of its time that judging may take, 0 to 1.
        clock: Nanoseconds, from any start; those of this thread, as a busy machine says nothing of a rule.
        rules: Which rules are asked.
    """

    def __init__(
        self,
        run: Run,
        *,
        share: float,
        clock: Callable[[], int] = thread_time_ns,
        rules: Sequence[Rule] = RULES,
    ) -> None:
        self._run, self._share, self._clock, self._rules = run, share, clock, rules
        self._slow: set[str] = set()
        self._left_for_the_end: set[str] = set()
        self._under_way: Iterator[None] | None = None
        self._before: set[tuple[object, ...]] = set()
        self._errors: set[tuple[object, ...]] = set()
        self._finished = False
        self._news = False

    def go_on(self) -> float:
        """Judge a little; return for how many seconds not to call again.

        ``run.findings`` is brought up to date where all rules have been asked.
        """
        began = self._clock()
        if self._under_way is None:
            self._under_way = self._judge()
        self._finished = False
        try:
            for _ in self._under_way:
                if self._clock() - began > MOST_AT_ONCE:
                    break
        except BaseException:  # of the user's: an interrupt, or what a handler of theirs raised
            self._under_way = None
            raise
        pause = (self._clock() - began) / 1e9 / self._share if self._share else float("inf")
        return max(pause, SECONDS_BETWEEN) if self._finished else pause

    def has_news(self) -> bool:
        """Whether an error has been found since this was last asked."""
        news, self._news = self._news, False
        return news

    def _judge(self) -> Iterator[None]:
        thresholds = self._run.settings.get("thresholds", {})
        found: list[Finding] = []
        for rule in self._rules:
            if rule.id in self._left_for_the_end:
                continue
            began = self._clock()
            try:
                found.extend(rule(self._run, **thresholds_of(rule, thresholds)))
            except Exception as error:  # noqa: BLE001 - the wall: a rule that fails is told when the run is closed
                pass_on(error)
                self._left_for_the_end.add(rule.id)
            if self._clock() - began > MOST_AT_ONCE:
                (self._left_for_the_end if rule.id in self._slow else self._slow).add(rule.id)
            yield
        self._show(settled(self._run, found))
        self._under_way, self._finished = None, True

    def _show(self, findings: Sequence[Finding]) -> None:
        candidates = [each for each in findings if each.rule not in ONLY_AT_END]
        held = {_identity(each) for each in candidates}
        shown = [each for each in candidates if each.severity is Severity.ERROR or _identity(each) in self._before]
        errors = {_identity(each) for each in shown if each.severity is Severity.ERROR}
        self._news = self._news or not errors <= self._errors
        self._before, self._errors = held, self._errors | errors
        self._run.findings = tuple(shown)


def _identity(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.severity, finding.module, finding.parameter, finding.optimizer
