"""This file tests the rule on sigmoids given to a loss with logits, on records written by hand."""

import pytest

from tests.rules.loss.loss_input_records import given, run_with
from torchmagic.records.finding import Severity
from torchmagic.rules.loss.sigmoid_before_bce_with_logits import MIN_BATCHES, sigmoid_before_bce_with_logits

LOSS = "binary_cross_entropy_with_logits"
SIGMOID = {"source": "sigmoid", "low": 0.1, "high": 0.9}


def found(*records):
    return list(sigmoid_before_bce_with_logits(run_with(*records)))


def test_three_batches_are_enough():
    assert MIN_BATCHES == 3
    (finding,) = found(given(LOSS, **SIGMOID, producer="net.2"))
    assert (finding.severity, finding.line, finding.module) == (Severity.ERROR, 7, "net.2")


def test_two_batches_are_silent():
    assert found(given(LOSS, 2, **SIGMOID)) == []


def test_a_module_that_was_seen_in_one_batch_only_is_named():
    (finding,) = found(given(LOSS, 2, **SIGMOID), given(LOSS, 1, **SIGMOID, producer="net.2"))
    assert finding.module == "net.2"


@pytest.mark.parametrize("facts", [{"source": "", "low": 0.0, "high": 1.0}, {**SIGMOID, "high": 1.2}])
def test_what_is_no_sigmoid_or_not_in_its_range_is_silent(facts):
    assert found(given(LOSS, **facts)) == []


def test_a_sigmoid_before_the_plain_loss_is_silent_and_two_are_not():
    assert found(given("binary_cross_entropy", **SIGMOID)) == []
    (finding,) = found(given("binary_cross_entropy", **SIGMOID, inner="sigmoid"))
    assert "second sigmoid" in finding.title
