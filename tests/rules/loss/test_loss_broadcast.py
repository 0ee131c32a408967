"""This file tests the rule on losses that stretch their operands, on records written by hand."""

from dataclasses import replace

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loss import WEIGHTED, BroadcastRecord
from torchmagic.records.place import Place
from torchmagic.rules.loss.loss_broadcast import loss_broadcast
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=5, source="loss = criterion(net(x), y)")


def stretched(given, target, joint, *, step=0, place=LINE):
    return BroadcastRecord(
        step=step, loss="mse_loss", input_shape=given, target_shape=target, output_shape=joint, place=place
    )


def found(*records, source=""):
    run = Run(source=source)
    run.records += records
    return list(loss_broadcast(run))


def test_once_is_enough_for_shapes_cannot_be_an_accident():
    (finding,) = found(stretched((32, 1), (32,), (32, 32), step=4))
    assert (finding.severity, finding.line, finding.step) == (Severity.ERROR, 5, 4)
    assert finding.title == "mse_loss stretches (32, 1) and (32,) to (32, 32)"
    assert finding.fix.startswith("pred.squeeze(1)")


def test_the_target_is_to_be_squeezed_when_it_has_the_dimension_too_many():
    (finding,) = found(stretched((32,), (32, 1), (32, 32)))
    assert finding.fix.startswith("target.squeeze(1)")


def test_the_same_line_is_told_once_with_how_often():
    (finding,) = found(*(stretched((32, 1), (32,), (32, 32), step=step) for step in range(6)))
    assert finding.evidence["times"] == 6
    assert finding.step == 0


def test_two_lines_are_two_findings():
    other = Place(file="<cell>", line=9, source="val = criterion(net(x), y)")
    findings = found(stretched((4, 1), (4,), (4, 4)), stretched((4, 1), (4,), (4, 4), place=other))
    assert [finding.line for finding in findings] == [5, 9]


def test_shapes_with_as_many_dimensions_are_told_with_less_confidence():
    (same,) = found(stretched((32, 1), (32, 5), (32, 5)))
    (other,) = found(stretched((32, 1), (32,), (32, 32)))
    assert same.confidence < other.confidence


@pytest.mark.parametrize(("given", "weights", "fix"), [((8,), (8, 1), "weights"), ((8, 1), (8,), "losses")])
def test_weights_that_are_stretched_against_losses_are_told_where_the_products_are_added(given, weights, fix):
    source = (
        "def f(p, y, w):\n    each = (p - y) ** 2\n    return (each * w).sum() / w.sum()\nf(net(x), y, w).backward()\n"
    )
    backward = Place(file="<cell>", line=4, source="f(net(x), y, w).backward()")
    record = replace(stretched(given, weights, (8, 8), place=backward), loss=WEIGHTED)
    (finding,) = found(record, source=source)
    assert (finding.line, finding.source) == (3, "return (each * w).sum() / w.sum()")
    assert finding.fix.startswith(f"{fix}.squeeze(1)")
    above = replace(record, input_shape=(8,), target_shape=(8, 8))
    assert "in which a row met a column" in found(above)[0].title
    assert found(above)[0].fix.startswith("squeeze or unsqueeze what the weights are computed from")
    twice = source + "other = (x * y).mean()\n"
    assert found(record, source=twice)[0].line == found(record)[0].line == 4


@pytest.mark.parametrize(
    ("given", "target", "joint", "fix"),
    [
        ((8, 5), (8, 1, 5), (8, 8, 5), "target.squeeze(1)"),
        ((8, 5, 1), (8, 5), (8, 5, 5), "pred.squeeze(2)"),
        ((8, 1), (8, 8), (8, 8), "squeeze or unsqueeze what the target is computed from"),
        ((8, 5, 1), (8, 1, 5), (8, 5, 5), "target.reshape(pred.shape)"),
    ],
)
def test_the_fix_takes_the_dimension_that_is_too_many(given, target, joint, fix):
    (finding,) = found(stretched(given, target, joint))
    assert finding.fix.startswith(fix)
