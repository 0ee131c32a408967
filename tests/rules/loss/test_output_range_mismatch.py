"""This file tests the rule on targets that an activation cannot reach, on records written by hand."""

import math

from tests.rules.loss.loss_input_records import given, run_with
from torchmagic.records.feeding import DifferenceRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.loss.output_range_mismatch import MIN_BATCHES, MIN_OUTSIDE, output_range_mismatch

SIGMOID = {
    "source": "sigmoid",
    "range_low": 0.0, "range_high": 1.0, "target_low": -1.0, "target_high": 3.0, "producer": "net.3",
}  # fmt: skip


def found(*records):
    return list(output_range_mismatch(run_with(*records)))


def test_a_fifth_out_of_reach_is_enough():
    assert (MIN_OUTSIDE, MIN_BATCHES) == (0.2, 2)
    (finding,) = found(given("mse_loss", outside=0.2, **SIGMOID))
    assert (finding.severity, finding.line, finding.module) == (Severity.ERROR, 7, "net.3")
    assert finding.title == "20% of the targets (-1 to 3) are out of reach of the sigmoid in net.3"


def test_less_than_a_fifth_is_silent():
    assert found(given("mse_loss", outside=0.19, **SIGMOID)) == []


def test_one_batch_is_silent():
    assert found(given("mse_loss", 1, outside=0.9, **SIGMOID)) == []


def test_an_output_without_limits_is_silent():
    assert found(given("mse_loss")) == []


def test_a_loss_by_hand_is_told_at_its_subtraction():
    line = Place(file="<cell>", line=12, source="loss = ((net(x) - y) ** 2).mean()")
    records = given("difference", place=None, outside=0.9, **SIGMOID)
    (finding,) = found(records, DifferenceRecord(step=0, place=line))
    assert finding.line == 12


def test_looks_without_a_count_and_with_another_source_do_not_dilute_or_add_up():
    unknown = given("mse_loss", 3, outside=math.nan, **SIGMOID)
    assert len(found(unknown + given("mse_loss", 2, outside=0.3, **SIGMOID))) == 1
    assert found(unknown) == []
    other = SIGMOID | {"source": "tanh"}
    assert found(given("mse_loss", 1, outside=0.9, **SIGMOID) + given("mse_loss", 1, outside=0.9, **other)) == []


def test_a_layer_that_was_seen_at_a_later_look_is_named():
    (finding,) = found(
        given("mse_loss", 1, outside=0.9, **SIGMOID | {"producer": None}) + given("mse_loss", 2, outside=0.9, **SIGMOID)
    )
    assert finding.module == "net.3"


RELU = {
    "source": "relu",
    "range_low": 0.0, "range_high": math.inf, "target_low": 0.0, "target_high": 1.0, "producer": "net.3",
}  # fmt: skip


def test_logits_that_are_never_below_zero_cannot_tell_the_other_class():
    (finding,) = found(given("binary_cross_entropy_with_logits", outside=0.6, **RELU))
    assert finding.title == "60% of the targets (0 to 1) are out of reach of the relu in net.3"
    assert "a probability of 0.5" in finding.why
    assert found(given("binary_cross_entropy_with_logits", outside=0.6, partial=True, **RELU)) == []
    assert found(given("cross_entropy", outside=0.6, **RELU)) == []
