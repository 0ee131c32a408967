"""This file tests the rule on losses that want log-probabilities, on records written by hand."""

import pytest

from tests.rules.loss.loss_input_records import given, run_with
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.loss.not_log_probabilities import MIN_BATCHES, MIN_ERROR, not_log_probabilities


def found(*records, **kwargs):
    return list(not_log_probabilities(run_with(*records, **kwargs)))


@pytest.mark.parametrize("loss", ["nll_loss", "kl_div", "ctc_loss"])
def test_raw_scores_are_told_at_the_line_of_the_loss(loss):
    assert MIN_BATCHES == 3
    (finding,) = found(given(loss))
    assert (finding.severity, finding.line, finding.step) == (Severity.ERROR, 7, 0)
    assert "raw scores" in finding.title
    assert finding.evidence["batches"] == 3


def test_probabilities_are_called_so():
    (finding,) = found(given("nll_loss", source="softmax", low=0.0, high=0.9, sum_error=1e-7, log_error=1.8))
    assert "probabilities from 0 to 0.9" in finding.title


@pytest.mark.parametrize(("source", "inner"), [("log", "sigmoid"), ("log_sigmoid", "")])
def test_logarithms_of_sigmoids_do_not_sum_to_one(source, inner):
    (finding,) = found(given("nll_loss", source=source, inner=inner, low=-3.0, high=-0.1, log_error=1.6))
    assert finding.title == "nll_loss gets logarithms of sigmoids, which do not sum to 1 over the classes"
    assert found(given("nll_loss", source=source, inner=inner, log_error=1e-3)) == []
    assert found(given("kl_div", source=source, inner=inner, log_error=1.6)) == []


def test_two_batches_are_silent():
    assert found(given("nll_loss", 2)) == []


def test_one_sound_batch_of_the_line_is_enough_to_be_silent():
    assert found(given("nll_loss", 3), given("nll_loss", 1, log_error=1e-6)) == []


def test_what_sums_to_nearly_one_is_silent():
    assert MIN_ERROR == 0.1
    assert found(given("nll_loss", log_error=0.1)) == []
    assert len(found(given("nll_loss", log_error=0.11))) == 1


def test_a_weighted_logarithm_is_silent():
    assert found(given("nll_loss", log_above=True)) == []


def test_a_log_softmax_over_another_dimension_is_another_rule():
    assert found(given("nll_loss", source="log_softmax")) == []


def test_raw_scores_of_cross_entropy_are_silent():
    assert found(given("cross_entropy")) == []


def test_a_loss_seen_at_its_backward_is_told_where_it_is_called():
    backward = Place(file="<cell>", line=2, source="loss.backward()")
    (finding,) = found(given("nll_loss", place=backward), source="loss = cross_entropy(a, y)\nloss.backward()")
    assert (finding.line, finding.source) == (1, "loss = cross_entropy(a, y)")


def test_a_loss_called_at_two_lines_stays_at_its_backward():
    backward = Place(file="<cell>", line=3, source="loss.backward()")
    source = "loss = nll_loss(a, y)\nloss = nll_loss(b, y)\nloss.backward()"
    (finding,) = found(given("nll_loss", place=backward), source=source)
    assert finding.line == 3


def test_a_single_class_is_another_rules_matter():
    assert found(given("nll_loss", num_classes=1)) == []
    assert len(found(given("nll_loss", num_classes=2))) == 1


def test_probabilities_made_by_hand_are_called_so():
    (finding,) = found(given("nll_loss", low=0.0, high=0.9, sum_error=1e-7, log_error=1.8))
    assert "probabilities from" in finding.title
    assert "raw scores" in found(given("nll_loss", low=0.0, sum_error=2.0))[0].title
    assert "raw scores" in found(given("nll_loss", low=-0.1, sum_error=1e-7))[0].title


def test_the_remedy_for_class_labels_leaves_out_the_logarithm():
    assert "cross_entropy" in found(given("nll_loss"))[0].fix
    assert "cross_entropy" not in found(given("kl_div"))[0].fix


def test_a_loss_that_stands_in_the_line_of_its_backward_stays_there():
    line = "nll_loss(a, y).backward()"
    (finding,) = found(given("nll_loss", place=Place(file="<cell>", line=2, source=line)), source=f"x = 1\n{line}")
    assert finding.line == 2


def test_a_line_of_another_cell_or_another_kind_stays_where_it_is():
    source = "loss = cross_entropy(a, y)\nloss.backward()"
    for place in (Place(file="<cell>", line=5, source="loss.backward()"), Place(file="<cell>", line=2, source="f(a)")):
        (finding,) = found(given("nll_loss", place=place), source=source)
        assert finding.line == place.line


def test_each_line_is_judged_by_its_own_batches():
    other = Place(file="<cell>", line=20, source="extra = nll_loss(b, y)")
    assert found(given("nll_loss", 2), given("nll_loss", 2, place=other)) == []
