"""This file tests the rule on losses over one class, on records written by hand."""

import pytest

from tests.rules.loss.loss_input_records import LINE, given, run_with
from torchmagic.records.finding import Severity
from torchmagic.records.loss import SoftmaxAxisRecord
from torchmagic.rules.loss.degenerate_logits import MIN_BATCHES, degenerate_logits


def found(*records):
    return list(degenerate_logits(run_with(*records)))


def test_one_class_is_told_at_the_line_of_the_loss():
    assert MIN_BATCHES == 3
    (finding,) = found(given("cross_entropy", num_classes=1))
    assert (finding.severity, finding.line) == (Severity.ERROR, 7)
    assert "a single class" in finding.title


def test_two_batches_and_two_classes_are_silent():
    assert found(given("cross_entropy", 2, num_classes=1)) == []
    assert found(given("cross_entropy", num_classes=2)) == []


def test_a_last_batch_of_one_sample_is_silent():
    assert found(given("cross_entropy", 5, num_classes=16), given("cross_entropy", 3, num_classes=1)) == []


def test_the_softmax_of_one_value_is_told_for_any_loss():
    (finding,) = found(given("binary_cross_entropy", source="softmax", single=True, producer="net.3"))
    assert finding.module == "net.3"
    assert found(given("binary_cross_entropy", num_classes=0)) == []


def test_losses_without_classes_and_weighted_logarithms_are_silent():
    assert found(given("mse_loss", num_classes=1)) == []
    assert found(given("nll_loss", num_classes=1, log_above=True)) == []


@pytest.mark.parametrize(("forwards", "norm", "number"), [(3, 0.0, 1), (2, 0.0, 0), (3, 1e-9, 0), (3, None, 0)])
def test_the_softmax_of_one_value_in_a_loss_that_is_written_out_is_told_where_no_gradient_comes(forwards, norm, number):
    alone = [
        SoftmaxAxisRecord(
            step=step, function="log_softmax", reason="alone", dim=1, wanted=None, shape=(32, 1), module=None,
            place=LINE,
        )
        for step in range(forwards)
    ]  # fmt: skip
    run = run_with(alone)
    for _ in range(forwards if norm is not None else 0):
        run.frame("grad_norm", ("",)).append(run.steps, (norm,))
    told = list(degenerate_logits(run))
    assert [(each.line, each.severity) for each in told] == [(LINE.line, Severity.ERROR)] * number
