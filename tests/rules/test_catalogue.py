"""This file tests the catalogue: that every rule has its page, its examples and its place, and how a run is judged."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic.rules.catalogue as catalogue_file
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import ProbabilityInputRecord
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.protocol import UnclearedGradientsRecord
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.causes import FOLLOWS_FROM
from torchmagic.rules.judgement import judge
from torchmagic.session.run import Run

ROOM = Path(catalogue_file.__file__).parent
EXAMPLES = Path(__file__).parent
HEADINGS = ("Symptom", "Why it happens", "What to try", "Source")
IDS = [rule.id for rule in RULES]
each_rule = pytest.mark.parametrize("rule", RULES, ids=IDS)


def unexpected(rule, error):
    raise AssertionError(f"{rule} raised {error!r}")


def uncleared(streak):
    return UnclearedGradientsRecord(
        optimizer="opt", step=streak, num_parameters=2, total=2, streak=streak, backward=None
    )


def born_forward():
    return NonfiniteRecord(birth=Birth.FORWARD, step=4, model="net", module="net.0", op="log")


def test_every_rule_file_is_listed_once():
    files = {path.stem.replace("_", "-") for path in ROOM.glob("*/*.py") if path.stem != "__init__"}
    assert len(IDS) == len(set(IDS))
    assert set(IDS) == files


@each_rule
def test_id_and_group_of_a_rule_are_its_file_and_folder(rule):
    assert (ROOM / rule.group / f"{rule.id.replace('-', '_')}.py").is_file()
    assert rule.check.__name__ == rule.id.replace("-", "_")


@each_rule
def test_the_page_of_a_rule_begins_with_one_sentence(rule):
    first = rule.page.split("\n\n")[0]
    assert first == rule.page.splitlines()[0]
    assert re.fullmatch(r"\w[^.]*\.", first)


@each_rule
def test_the_page_of_a_rule_has_its_four_headings_in_order_each_with_something_to_say(rule):
    paragraphs = rule.page.split("\n\n")[1:]
    heads = [re.match(r"\*([^*]+)\*: \S", paragraph) for paragraph in paragraphs]
    assert [head.group(1) for head in heads if head] == list(HEADINGS)


@each_rule
def test_a_rule_has_examples_that_are_run(rule):
    folder = EXAMPLES / rule.group / rule.id.replace("-", "_")
    assert (folder / "bad.py").is_file()
    assert (folder / "good.py").is_file()


def test_no_folder_of_examples_is_without_its_rule():
    folders = {(path.parent.parent.name, path.parent.name) for path in EXAMPLES.glob("*/*/*.py")}
    assert folders == {(rule.group, rule.id.replace("-", "_")) for rule in RULES}


@each_rule
def test_a_rule_names_only_itself_in_its_findings(rule):
    tree = ast.parse((ROOM / rule.group / f"{rule.id.replace('-', '_')}.py").read_text(encoding="utf-8"))
    named = {
        keyword.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding"
        for keyword in node.keywords
        if keyword.arg == "rule"
    }
    assert named == {rule.id}


@each_rule
def test_a_rule_finds_nothing_in_an_empty_run(rule):
    assert list(rule(Run())) == []


def test_the_catalogue_needs_no_torch():
    code = "import sys, torchmagic.rules.catalogue; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_rules_that_exist_follow_from_rules_that_exist():
    named = set(FOLLOWS_FROM) | {cause for causes in FOLLOWS_FROM.values() for cause in causes}
    assert named <= set(IDS)


def test_nothing_follows_from_itself_even_in_a_circle():
    def roots(rule, seen):
        assert rule not in seen, f"{rule} follows from itself"
        for cause in FOLLOWS_FROM.get(rule, ()):
            roots(cause, {*seen, rule})

    for rule in FOLLOWS_FROM:
        roots(rule, set())


def test_an_empty_run_has_no_findings():
    assert judge(Run(), unexpected) == ()


def test_what_follows_comes_after_its_root_and_names_it():
    run = Run()
    run.records += [born_forward(), uncleared(3)]
    first, second = judge(run, unexpected)
    assert (first.rule, first.causes) == ("missing-zero-grad", ())
    assert (second.rule, second.causes) == ("nonfinite-forward", ("missing-zero-grad",))


def test_a_root_comes_first_even_when_what_follows_is_surer():
    run = Run()
    for step, norm in enumerate([1.0] * 10 + [5e4]):
        run.frame("grad_norm", ("",)).append(step, (norm,))
    run.records.append(NonfiniteRecord(birth=Birth.FORWARD, step=11, op="exp"))
    root, consequence = judge(run, unexpected)
    assert root.confidence < consequence.confidence
    assert (root.rule, consequence.rule) == ("exploding-gradient", "nonfinite-forward")


def test_a_finding_without_its_cause_is_a_root_itself():
    run = Run()
    run.records.append(born_forward())
    assert [finding.causes for finding in judge(run, unexpected)] == [()]


def test_errors_come_before_warnings_and_sure_ones_before_guesses():
    run = Run()
    for step in range(3):
        run.frame("dead_share", ("net.1",)).append(step, (0.7,))
    run.records += [born_forward().__class__(birth=Birth.INPUT, step=9, where="columns 0 of 2"), uncleared(3)]
    found = judge(run, unexpected)
    assert [finding.severity for finding in found if not finding.causes] == [
        Severity.ERROR,
        Severity.ERROR,
    ]
    assert [finding.rule for finding in found] == ["nonfinite-input", "missing-zero-grad", "dead-relu"]


def test_a_rule_that_raises_is_told_and_the_others_go_on():
    run = Run()
    broken = ProbabilityInputRecord(
        step=0, loss="cross_entropy", rows="many", deviation=0.0, place=None, producer=None, producer_place=None
    )
    run.records += [broken, broken, broken, uncleared(3)]
    failures = []
    found = judge(run, lambda rule, error: failures.append((rule, type(error))))
    assert failures == [("softmax-before-cross-entropy", TypeError)]
    assert [finding.rule for finding in found] == ["missing-zero-grad"]


def test_every_finding_says_what_why_and_what_to_do():
    run = Run()
    run.records += [born_forward(), uncleared(3)]
    for finding in judge(run, unexpected):
        assert isinstance(finding, Finding)
        assert finding.title
        assert finding.why
        assert finding.fix
        assert finding.evidence
        assert 0 <= finding.confidence <= 1


def test_thresholds_of_the_settings_reach_their_rules():
    run = Run()
    run.records += [uncleared(3)]
    assert [finding.rule for finding in judge(run, unexpected)] == ["missing-zero-grad"]
    run.settings["thresholds"] = {"missing-zero-grad.min_streak": 4}
    assert judge(run, unexpected) == ()


def test_ignored_rules_say_nothing():
    run = Run(settings={"ignore": ["missing-*"]})
    run.records += [uncleared(3)]
    assert judge(run, unexpected) == ()


def test_what_follows_from_an_ignored_finding_stays_as_quiet_as_it_was():
    run = Run(settings={"ignore": ["missing-zero-grad"]})
    run.steps = 6
    for step in range(6):
        run.frame("dead_share", ("net.1",)).append(step, (0.6,))
    run.records += [uncleared(3)]
    (left,) = judge(run, unexpected)
    assert (left.rule, left.severity) == ("dead-relu", Severity.INFO)


def test_a_warning_that_follows_from_an_error_needs_no_cure_of_its_own():
    run = Run()
    run.steps = 6
    for step in range(6):
        run.frame("dead_share", ("net.1",)).append(step, (0.6,))
    assert [finding.severity.value for finding in judge(run, fail)] == ["warning"]
    run.records.extend(
        UnclearedGradientsRecord(optimizer="opt", step=step, num_parameters=2, total=2, streak=step, backward=None)
        for step in range(1, 5)
    )
    root, consequence = judge(run, fail)
    assert (root.rule, root.severity.value) == ("missing-zero-grad", "error")
    assert (consequence.rule, consequence.severity.value) == ("dead-relu", "info")
    assert consequence.causes == ("missing-zero-grad",)


def fail(rule, error):
    raise AssertionError(rule) from error
