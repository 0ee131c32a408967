"""This file tests the rule on test rows that were trained on, on records written by hand."""

import pytest

from torchmagic.records.feeding import SharedRowsRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.train_test_overlap import train_test_overlap
from torchmagic.session.run import Run

MADE = Place(file="<cell>", line=3, source="test = DataLoader(held_out)")
CALL = Place(file="<cell>", line=9, source="net(x_test)")


def found(equal, *, rows=100, known=400, training=400, loader="test", coarse=False, covered=0.2):
    run = Run()
    run.records += [
        LoaderRecord(name="test", batch_size=8, num_workers=0, sampler="S", num_batches=4, made=MADE),
        SharedRowsRecord(
            model="net",
            loader=loader,
            num_rows=rows,
            num_equal=equal,
            num_known=known,
            num_training=training,
            coarse=coarse,
            covered=covered,
            place=CALL,
        ),
    ]
    return list(train_test_overlap(run))


@pytest.mark.parametrize(("equal", "told"), [(50, 0), (51, 1), (100, 1)])
def test_more_than_half_the_rows_are_told_at_the_test_loader(equal, told):
    findings = found(equal)
    assert [(each.severity, each.line) for each in findings] == [(Severity.INFO, 3)] * told


def test_a_tensor_is_told_where_it_is_evaluated():
    (finding,) = found(90, loader="")
    assert finding.source == CALL.source


def test_the_training_tensors_themselves_are_silent():
    assert found(100, loader="", covered=0.95) == []
    assert len(found(100, loader="test", covered=1.0)) == 1


def test_where_a_quarter_of_the_training_rows_is_known_a_quarter_of_the_equal_ones_is():
    (finding,) = found(20, known=100)
    assert finding.title.startswith("80%")
    assert found(20) == []


def test_rows_of_few_values_and_few_rows_are_silent():
    assert found(100, coarse=True) == []
    assert found(15, rows=15) == []


def test_where_more_rows_are_known_than_were_trained_on_no_share_is_guessed():
    assert found(40, known=400, training=200) == []
    assert len(found(60, known=400, training=200)) == 1
