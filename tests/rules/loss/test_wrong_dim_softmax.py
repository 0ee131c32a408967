"""This file tests the rule on softmaxes over the wrong dimension, on records written by hand."""

import pytest

from tests.rules.loss.loss_input_records import given, run_with
from torchmagic.records.finding import Severity
from torchmagic.records.loss import SoftmaxAxisRecord
from torchmagic.records.place import Place
from torchmagic.rules.loss.wrong_dim_softmax import MIN_BATCHES, MIN_ERROR, MIN_FORWARDS, wrong_dim_softmax

INSIDE = Place(file="<cell>", line=3, source="return F.log_softmax(h, dim=0)", function="forward")
WRONG = {"source": "log_softmax", "log_error": 2.0}


def over(reason="batch", forwards=2, *, dim=0, wanted=None, shape=(32, 5), place=INSIDE):
    return [
        SoftmaxAxisRecord(
            step=step, function="log_softmax", reason=reason, dim=dim, wanted=wanted, shape=shape, module="net",
            place=place,
        )
        for step in range(forwards)
    ]  # fmt: skip


def found(*records):
    return list(wrong_dim_softmax(run_with(*records)))


def test_a_softmax_over_the_batch_is_told_at_its_line():
    assert MIN_FORWARDS == 2
    (finding,) = found(over())
    assert (finding.severity, finding.line, finding.module) == (Severity.ERROR, 3, "net")
    assert "32 samples" in finding.title


def test_one_forward_is_silent():
    assert found(over(forwards=1)) == []


@pytest.mark.parametrize("reason", ["weights", "single"])
def test_the_dimension_that_is_summed_is_named_in_the_remedy(reason):
    (finding,) = found(over(reason, dim=2, wanted=1, shape=(8, 9, 1)))
    assert "dim=1" in finding.fix
    assert "dimension 1" in finding.title


def test_classes_that_do_not_sum_to_one_are_told_by_the_loss():
    assert (MIN_BATCHES, MIN_ERROR) == (3, 0.1)
    (finding,) = found(given("nll_loss", **WRONG, producer="net", producer_place=INSIDE))
    assert finding.line == 3
    assert found(given("nll_loss", 2, **WRONG)) == []


def test_the_same_softmax_is_told_once():
    assert len(found(over(), given("nll_loss", **WRONG, producer="net", producer_place=INSIDE))) == 1


@pytest.mark.parametrize(
    "facts",
    [
        {**WRONG, "log_error": 0.1},
        {**WRONG, "partial": True},
        {**WRONG, "source": ""},
        {"source": "softmax", "sum_error": 1e-6},
    ],
)
def test_normalised_classes_a_part_of_them_and_raw_scores_are_silent(facts):
    assert found(given("cross_entropy", **facts)) == []


def test_softmaxes_at_different_lines_do_not_add_up():
    other = Place(file="<cell>", line=4, source="return F.log_softmax(g, dim=0)", function="forward")
    assert found(over(forwards=1), over(forwards=1, place=other)) == []


def test_another_softmax_than_the_one_that_was_told_is_told_too():
    other = Place(file="<cell>", line=4, source="return F.log_softmax(g, dim=0)", function="forward")
    assert len(found(over(), given("nll_loss", **WRONG, producer="net", producer_place=other))) == 2
    assert len(found(over(), given("nll_loss", **WRONG))) == 1


def test_one_sound_batch_of_the_line_is_enough_to_be_silent():
    assert found(given("nll_loss", **WRONG) + given("nll_loss", 1, **WRONG | {"log_error": 0.0})) == []


@pytest.mark.parametrize("facts", [{"single": True}, {"num_classes": 1}])
def test_a_single_class_is_another_rules_matter(facts):
    assert found(given("nll_loss", **WRONG | facts)) == []
