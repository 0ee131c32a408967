"""This file tests the rule on clipping that no step uses, on records written by hand."""

from dataclasses import replace

import pytest

from torchmagic.records.clipping import ClipRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.clip_ineffective import clip_ineffective
from torchmagic.session.run import Run


def clip(*, used=0, unused=12, after_step=12, optimizer="opt", line=9):
    place = Place(file="<cell>", line=line, source="clip_grad_norm_(net.parameters(), 1.0)")
    return ClipRecord(optimizer=optimizer, step=1, used=used, unused=unused, after_step=after_step, place=place)


def found(*records, **thresholds):
    run = Run()
    run.records += records
    return list(clip_ineffective(run, **thresholds))


def test_a_clip_after_the_step_is_told_at_its_line():
    (finding,) = found(clip())
    assert (finding.severity, finding.line, finding.optimizer) == (Severity.WARNING, 9, "opt")
    assert "after the step" in finding.why


def test_a_clip_before_the_backward_is_told_so():
    assert "before the backward" in found(clip(after_step=0))[0].why


@pytest.mark.parametrize(("unused", "findings"), [(2, 0), (3, 1)])
def test_three_iterations_are_asked_for(unused, findings):
    assert len(found(clip(unused=unused))) == findings


def test_the_threshold_is_the_callers():
    assert len(found(clip(unused=2), min_steps=2)) == 1


def test_a_line_whose_clips_are_used_now_and_then_is_silent():
    assert found(clip(used=1)) == []


def test_a_second_line_is_silent_where_a_first_one_clips_for_the_same_optimizer():
    assert found(clip(used=12, unused=1), clip(line=14)) == []
    assert [finding.optimizer for finding in found(clip(used=12, optimizer="a"), clip(optimizer="b"))] == ["b"]


def emptied(**changes):
    return replace(clip(unused=12, after_step=0), **{"empty": 12, **changes})


def test_a_clip_that_is_given_nothing_is_told_even_where_the_first_one_had_parameters():
    for record in (emptied(), emptied(used=1)):
        (finding,) = found(record)
        assert "no parameters" in finding.title
        assert finding.fix.startswith("list(")


def test_a_line_that_now_and_then_has_parameters_is_silent():
    assert found(emptied(used=5)) == []
    assert found(emptied(empty=2, unused=2)) == []


@pytest.mark.parametrize(("gradless", "used", "told"), [(3, 0, 1), (2, 0, 0), (9, 1, 0)])
def test_a_clip_of_what_never_has_a_gradient_is_told(gradless, used, told):
    findings = found(replace(clip(unused=0, after_step=0, used=used, optimizer=""), gradless=gradless))
    assert [(each.line, each.optimizer, "had a gradient" in each.title) for each in findings] == [
        (9, None, True)
    ] * told
