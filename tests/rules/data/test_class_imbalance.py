"""This file tests the rule on rare classes, on records written by hand."""

import pytest

from torchmagic.records.data import ClassCountsRecord, Source
from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.rules.data.class_imbalance import class_imbalance
from torchmagic.session.run import Run


def found(counts, *, shuffle=True):
    run = Run()
    run.records += [
        LoaderRecord(name="train", batch_size=32, num_workers=0, sampler="S", num_batches=20, shuffle=shuffle),
        LoaderUseRecord(
            loader="train", num_passes=1, num_batches=20, num_single=0, num_empty=0, num_trained=20, place=None
        ),
        ClassCountsRecord(source=Source.LOADER, name="train", field="1", num_batches=20, num_few=0, counts=counts),
    ]
    return [each.severity for each in class_imbalance(run)]


@pytest.mark.parametrize(("rare", "told"), [(30, 1), (31, 0)])
def test_ten_to_one_is_told(rare, told):
    assert found({"0": 300, "1": rare}) == [Severity.INFO] * told


def test_a_fixed_order_few_samples_and_many_classes_are_silent():
    assert found({"0": 300, "1": 3}, shuffle=False) == []
    assert found({"0": 150, "1": 3}) == []
    assert found({str(name): 300 if name else 3 for name in range(101)}) == []
