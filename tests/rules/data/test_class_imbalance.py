"""This file tests the rule on rare classes, on records written by hand."""

import pytest

from torchmagic.records.data import ClassCountsRecord, Source
from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.rules.data.class_imbalance import class_imbalance
from torchmagic.session.run import Run


def findings(counts, *, shuffle=True, passes=1):
    run = Run()
    run.records += [
        LoaderRecord(name="train", batch_size=32, num_workers=0, sampler="S", num_batches=20, shuffle=shuffle),
        LoaderUseRecord(
            loader="train", num_passes=passes, num_batches=20, num_single=0, num_empty=0, num_trained=20, place=None
        ),
        ClassCountsRecord(source=Source.LOADER, name="train", field="1", num_batches=20, num_few=0, counts=counts),
    ]
    return list(class_imbalance(run))


def found(counts, *, shuffle=True):
    return [each.severity for each in findings(counts, shuffle=shuffle)]


@pytest.mark.parametrize(("rare", "told"), [(30, 1), (31, 0)])
def test_ten_to_one_is_told(rare, told):
    assert found({"0": 300, "1": rare}) == [Severity.INFO] * told


def test_a_fixed_order_few_samples_and_many_classes_are_silent():
    assert found({"0": 300, "1": 3}, shuffle=False) == []
    assert found({"0": 150, "1": 3}) == []
    assert found({str(name): 300 if name else 3 for name in range(101)}) == []


@pytest.mark.parametrize(("passes", "what"), [(1, "samples"), (3, "draws")])
def test_what_comes_in_several_passes_is_no_number_of_samples(passes, what):
    (finding,) = findings({"0": 297, "8": 6}, passes=passes)
    assert finding.title == "class 0 comes 50 times as often as class 8 in batches of train"
    assert finding.evidence[f"{what} of class 8"] == 6
