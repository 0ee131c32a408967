"""This file tests the rule on gradients that nobody resets, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.protocol import UnclearedGradientsRecord
from torchmagic.rules.training_loop.missing_zero_grad import MIN_STREAK, missing_zero_grad
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=7, source="loss.backward()")


def uncleared(*streaks, optimizer="opt"):
    return [
        UnclearedGradientsRecord(
            optimizer=optimizer, step=step, num_parameters=3, total=4, streak=streak, backward=LINE
        )
        for step, streak in enumerate(streaks, start=1)
    ]


def found(*records):
    run = Run()
    run.records += records
    return list(missing_zero_grad(run))


def test_three_step_pairs_in_a_row_are_enough():
    assert MIN_STREAK == 3
    (finding,) = found(*uncleared(1, 2, 3))
    assert (finding.severity, finding.optimizer, finding.line) == (Severity.ERROR, "opt", 7)
    assert finding.source == "loss.backward()"
    assert finding.step == 1
    assert finding.evidence["parameters"] == "3 of 4"
    assert finding.fix.startswith("opt.zero_grad()")


def test_one_that_is_reset_now_and_then_is_not_said_to_be_never_reset():
    assert found(*uncleared(1, 2, 3))[0].title == "opt steps on gradients that are never reset"
    (finding,) = found(*uncleared(1, 2, 3, 4, 1, 2, 3, 4))
    assert finding.title == "opt steps 4 times in a row on gradients that are not reset"


@pytest.mark.parametrize("streaks", [(1,), (1, 2), (1, 2, 1, 2)])
def test_fewer_in_a_row_are_silent(streaks):
    assert found(*uncleared(*streaks)) == []


def test_a_reset_in_between_begins_a_new_count_and_the_longest_counts():
    assert len(found(*uncleared(1, 2, 1, 2, 3, 1))) == 1


def test_of_two_optimizers_only_the_forgotten_one_is_named():
    findings = found(*uncleared(1, 2, optimizer="g_opt"), *uncleared(1, 2, 3, 4, optimizer="d_opt"))
    assert [finding.optimizer for finding in findings] == ["d_opt"]


def test_two_forgotten_optimizers_are_two_findings():
    findings = found(*uncleared(1, 2, 3, optimizer="g_opt"), *uncleared(1, 2, 3, optimizer="d_opt"))
    assert [finding.optimizer for finding in findings] == ["g_opt", "d_opt"]


def test_a_line_that_could_not_be_read_is_left_out():
    record = UnclearedGradientsRecord(optimizer="opt", step=5, num_parameters=1, total=1, streak=5, backward=None)
    (finding,) = found(record)
    assert (finding.line, finding.source) == (None, None)


def test_two_optimizers_of_one_name_are_never_reset_where_neither_is():
    assert found(*uncleared(1, 1, 2, 2, 3, 3))[0].title == "opt steps on gradients that are never reset"


def test_the_fix_calls_the_optimizer_as_the_code_that_steps_it_does():
    run = Run(source="class T:\n    def fit(self):\n        self.opt.step()\n")
    run.records += uncleared(1, 2, 3)
    (finding,) = missing_zero_grad(run)
    assert finding.fix.startswith("self.opt.zero_grad()")


def test_a_count_that_was_not_followed_to_the_end_is_at_least_that():
    run = Run()
    run.records += uncleared(1, 2, 3)
    run.steps = 40
    (finding,) = missing_zero_grad(run)
    assert finding.evidence["steps in a row without a reset"] == "at least 3"
