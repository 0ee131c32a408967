"""This file tests the judgement of a run that goes on: when it speaks, what it costs, what waits for the end."""

import itertools
import signal

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers import live_judgement, watching
from torchmagic.debuggers.live_judgement import MOST_AT_ONCE, ONLY_AT_END, ONLY_ON_THE_WHOLE, LiveJudgement
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.rule import Rule
from torchmagic.session import recorder
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session

MILLISECOND = 1_000_000


class Clock:
    """Goes on only where it is told to."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def says(rule_id, severity=Severity.WARNING, *, when=lambda: True, takes=0, clock=None):
    """Return a rule that finds one thing, or nothing, and takes so long."""

    def check(_run):
        if clock is not None:
            clock.now += takes
        if when():
            yield Finding(rule=rule_id, severity=severity, confidence=1.0, title="it", why="so", fix="do")

    return Rule(id=rule_id, group="loop", page="", check=check)


def shown(run):
    return [finding.rule for finding in run.findings]


def test_an_error_is_shown_at_once_and_a_warning_when_it_is_found_again():
    run = Run()
    judgement = LiveJudgement(run, share=0.02, rules=(says("loud", Severity.ERROR), says("soft")))
    judgement.go_on()
    assert shown(run) == ["loud"]
    judgement.go_on()
    assert shown(run) == ["loud", "soft"]


def test_a_warning_that_comes_and_goes_is_never_shown():
    answers = itertools.cycle((True, False))
    run = Run()
    judgement = LiveJudgement(run, share=0.02, rules=(says("soft", when=lambda: next(answers)),))
    for _ in range(6):
        judgement.go_on()
        assert shown(run) == []


def test_what_speaks_of_the_whole_run_waits_for_its_end():
    run = Run()
    judgement = LiveJudgement(run, share=0.02, rules=[says(name) for name in sorted(ONLY_AT_END)])
    for _ in range(3):
        judgement.go_on()
    assert shown(run) == []


def test_the_rules_that_wait_are_rules():
    assert {rule.id for rule in RULES} >= ONLY_ON_THE_WHOLE > ONLY_AT_END


def test_a_new_error_is_news_once():
    run = Run()
    judgement = LiveJudgement(run, share=0.02, rules=(says("loud", Severity.ERROR), says("soft")))
    judgement.go_on()
    assert judgement.has_news()
    judgement.go_on()
    assert not judgement.has_news()


def test_judging_holds_the_cell_up_for_some_milliseconds_and_goes_on_later():
    clock, run = Clock(), Run()
    rules = [says(f"r{i}", Severity.ERROR, takes=MILLISECOND, clock=clock) for i in range(20)]
    judgement = LiveJudgement(run, share=0.01, clock=clock, rules=rules)
    calls = 0
    while not run.findings:
        before = clock.now
        pause = judgement.go_on()
        took = clock.now - before
        calls += 1
        assert took <= MOST_AT_ONCE + MILLISECOND
        assert pause >= took / 1e9 / 0.01
    assert calls == 5  # twenty rules of a millisecond, and what they found together
    assert pause >= 1.0
    assert len(run.findings) == 20


def test_a_rule_that_takes_long_twice_is_left_for_the_end():
    clock, asked = Clock(), []
    slow = says("slow", when=lambda: asked.append(1) is None, takes=50 * MILLISECOND, clock=clock)
    judgement = LiveJudgement(Run(), share=0.01, clock=clock, rules=(slow, says("soft")))
    for _ in range(8):
        judgement.go_on()
    assert len(asked) == 2


def test_a_rule_that_fails_leaves_the_others():
    def fail():
        raise ZeroDivisionError

    run = Run()
    judgement = LiveJudgement(run, share=0.02, rules=(says("broken", when=fail), says("loud", Severity.ERROR)))
    judgement.go_on()
    assert shown(run) == ["loud"]


class Urgent(Session):
    """Remembers what was written as urgent."""

    def __init__(self):
        super().__init__()
        self.urgent = []

    def write(self, run, *, final=False, urgent=False):
        if urgent:
            self.urgent.append((run.steps, final, [each.rule for each in run.findings]))


@pytest.fixture
def eager(monkeypatch):
    """Judge from the first step on."""
    monkeypatch.setattr(watching, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(live_judgement, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(recorder, "BETWEEN_READINGS", -1)


@pytest.mark.usefixtures("eager")
def test_an_error_is_shown_and_stored_while_the_run_goes_on():
    session = Urgent()
    watch = Watch(Settings(budget=100.0, every=1), session=session)
    run = watch.start()
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    while not run.findings and run.steps < 3000:
        x = torch.randn(8, 4)
        x[0] = float("nan")
        opt.zero_grad()
        functional.cross_entropy(net(x), torch.zeros(8).long()).backward()
        opt.step()
    assert run.status is Status.RUNNING
    assert "nonfinite-input" in shown(run)
    assert "nonfinite-input" in session.urgent[0][2]
    watch.stop()
    assert "nonfinite-input" in shown(run)


def test_what_a_handler_of_the_users_raises_in_a_rule_is_theirs_and_the_judgement_goes_on():
    told = []

    def alarmed():
        if not told:
            told.append(1)
            signal.raise_signal(signal.SIGALRM)
        return True

    def handler(_number, _frame):
        raise TimeoutError

    run = Run()
    judgement = LiveJudgement(run, share=0.02, rules=(says("loud", Severity.ERROR, when=alarmed),))
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TimeoutError):
            judgement.go_on()
    finally:
        signal.signal(signal.SIGALRM, before)
    judgement.go_on()
    judgement.go_on()
    assert shown(run) == ["loud"]
