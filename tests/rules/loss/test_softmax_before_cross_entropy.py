"""This file tests the rule on probabilities given to cross_entropy, on records written by hand."""

from dataclasses import replace

from torchmagic.records.finding import Severity
from torchmagic.records.loss import ProbabilityInputRecord
from torchmagic.records.place import Place
from torchmagic.rules.loss.softmax_before_cross_entropy import MIN_BATCHES, MIN_ROWS, softmax_before_cross_entropy
from torchmagic.session.run import Run

LOSS = Place(file="<cell>", line=30, source="loss = criterion(net(x), y)")
INSIDE = Place(file="<cell>", line=8, source="return h.softmax(1)", function="forward")
OUTSIDE = Place(file="<cell>", line=29, source="p = net(x).softmax(1)", function="<module>")


def probabilities(batches, *, rows=32, place=LOSS, producer=None, producer_place=None):
    return [
        ProbabilityInputRecord(
            step=step,
            loss="cross_entropy",
            rows=rows,
            deviation=1e-7 * step,
            place=place,
            producer=producer,
            producer_place=producer_place,
        )
        for step in range(batches)
    ]


def found(*records):
    run = Run()
    run.records += records
    return list(softmax_before_cross_entropy(run))


def test_three_batches_are_enough():
    assert MIN_BATCHES == 3
    (finding,) = found(*probabilities(3))
    assert (finding.severity, finding.line, finding.module) == (Severity.ERROR, 30, None)
    assert finding.evidence["rows looked at"] == 96
    assert finding.evidence["largest distance from 1"] == 2e-7


def test_two_batches_are_silent():
    assert found(*probabilities(2)) == []


def test_a_handful_of_samples_is_silent_and_eight_are_enough():
    assert MIN_ROWS == 8
    assert found(*probabilities(7, rows=1)) == []
    assert len(found(*probabilities(8, rows=1))) == 1


def test_batches_of_different_lines_do_not_add_up():
    other = Place(file="<cell>", line=31)
    assert found(*probabilities(2), *probabilities(2, place=other)) == []


def test_the_module_that_normalised_is_named():
    (finding,) = found(*probabilities(3, producer="net.4"))
    assert finding.module == "net.4"
    assert "net.4" in finding.title
    assert finding.confidence > found(*probabilities(3))[0].confidence


def test_a_softmax_in_the_forward_is_the_place():
    (finding,) = found(*probabilities(3, producer="net", producer_place=INSIDE))
    assert finding.line == 8


def test_a_softmax_in_the_loop_leaves_the_place_at_the_loss():
    (finding,) = found(*probabilities(3, producer_place=OUTSIDE))
    assert finding.line == 30


def test_a_softmax_in_another_method_of_the_model_is_the_place():
    (finding,) = found(*probabilities(3, producer="net", producer_place=replace(INSIDE, function="head")))
    assert finding.line == 8
    assert finding.title.endswith("from the softmax in head of net")


def test_a_softmax_beside_the_loss_in_one_function_leaves_the_place_at_the_loss():
    loss, made = replace(LOSS, function="fit"), replace(OUTSIDE, function="fit")
    (finding,) = found(*probabilities(3, place=loss, producer="layer", producer_place=made))
    assert finding.line == 30
