"""This file tests the rule on loaders that give class after class, on records written by hand."""

import pytest

from torchmagic.records.data import ClassCountsRecord, Source
from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.finding import Severity
from torchmagic.records.loss import LossRecord
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.unshuffled_loader import MIN_BATCHES, MIN_SHARE, MOST_BY_CHANCE, unshuffled_loader
from torchmagic.session.run import Run

MADE = Place(file="<cell>", line=2, source="train = DataLoader(data)")
TEN = {str(name): 64 for name in range(10)}


def counts(num_few, *, classes=TEN, batches=20, source=Source.LOADER, field="1", name="train", in_order=0):
    return ClassCountsRecord(
        source=source,
        name=name,
        field=field,
        num_batches=batches,
        num_few=num_few,
        counts=classes,
        num_in_order=in_order,
    )


def loss(name="cross_entropy"):
    return LossRecord(name=name, input_shape=(32, 10), target_shape=(32,), reduction="mean", place=None)


def found(*records, shuffle=False, trained=20, loss_name="cross_entropy", before=False):
    run = Run()
    run.records += [
        LoaderRecord(
            name="train",
            batch_size=32,
            num_workers=0,
            sampler="S",
            num_batches=20,
            shuffle=shuffle,
            made=MADE,
            made_before=before,
        ),
        LoaderUseRecord(
            loader="train",
            num_passes=1,
            num_batches=20,
            num_single=0,
            num_empty=0,
            num_trained=trained,
            place=None,
        ),
        *([loss(loss_name)] if loss_name else []),
        *records,
    ]
    return list(unshuffled_loader(run))


def test_class_after_class_is_a_warning_at_the_line_that_makes_the_loader():
    assert (MIN_SHARE, MIN_BATCHES, MOST_BY_CHANCE) == (0.8, 5, 0.25)
    (finding,) = found(counts(20))
    assert (finding.severity, finding.line, finding.source) == (Severity.WARNING, 2, MADE.source)


@pytest.mark.parametrize(("few", "told"), [(16, 0), (17, 1)])
def test_more_than_eighty_percent_of_the_batches_must_hold_few_classes(few, told):
    assert len(found(counts(few))) == told


def test_one_class_of_two_a_batch_counts_too():
    (finding,) = found(counts(20, classes={"0": 320, "1": 320}), loss_name="binary_cross_entropy")
    assert "a single class of 2" in finding.title


@pytest.mark.parametrize("shuffle", [True, None])
def test_another_order_than_the_datasets_own_is_silent(shuffle):
    assert found(counts(20), shuffle=shuffle) == []


@pytest.mark.parametrize(("in_order", "told"), [(13, 0), (14, 1), (19, 1)])
def test_the_order_of_a_sampler_of_the_users_is_told_where_it_goes_from_class_to_class(in_order, told):
    findings = found(counts(20, in_order=in_order), shuffle=None)
    assert [each.fix for each in findings] == ["random.shuffle(indices)  # in S.__iter__"] * told
    assert found(counts(20, in_order=in_order), shuffle=True) == []


def test_a_loader_that_is_only_evaluated_is_silent():
    assert found(counts(20), trained=0) == []
    assert found(counts(20), trained=6) == []


def test_regression_is_silent():
    assert found(counts(20), loss_name="mse_loss") == []


def test_a_loss_by_hand_is_told():
    assert len(found(counts(20), loss_name="")) == 1


def test_few_batches_are_silent():
    assert found(counts(4, batches=4)) == []
    assert len(found(counts(5, batches=5))) == 1


def test_batches_of_two_samples_hold_two_classes_anyway():
    assert found(counts(20, classes={"0": 13, "1": 13, "2": 14})) == []


def test_one_class_that_is_nearly_everything_is_alone_in_most_batches_anyway():
    assert found(counts(19, classes={"0": 630, "1": 10})) == []


def test_a_field_of_other_classes_than_the_losss_is_not_the_target():
    target = counts(0, classes={"0": 200, "1": 220, "2": 220}, source=Source.LOSS, name="cross_entropy")
    mixed = counts(0, classes={"0": 200, "1": 220, "2": 220})
    assert found(target, mixed, counts(20, field="2")) == []
    assert found(target, counts(20, field="2", classes={"7": 300, "8": 300, "9": 40})) == []


def test_a_loader_of_an_earlier_cell_is_told_by_the_text_of_its_line():
    (finding,) = found(counts(20), before=True)
    assert (finding.line, finding.source) == (None, MADE.source)


def test_two_fields_of_a_loader_are_told_once():
    assert len(found(counts(20), counts(20, field="2"))) == 1


def test_a_single_class_is_in_every_batch_anyway():
    assert found(counts(20, classes={"0": 640}), loss_name=None) == []


def test_of_two_classes_a_single_one_is_told_and_of_more_one_or_two():
    assert "hold a single class" in found(counts(20, classes={"0": 320, "1": 320}))[0].title
    assert "hold one or two classes" in found(counts(20))[0].title


def test_only_the_classes_of_a_loss_for_classes_tell_which_field_is_the_target():
    other = counts(0, classes={"5": 300, "6": 340}, source=Source.LOSS, name="mse_loss")
    given = counts(0, classes={"5": 300, "6": 340}, source=Source.LOADER, name="cross_entropy")
    assert len(found(other, given, counts(20))) == 1


def test_a_field_of_another_loader_and_what_a_model_was_given_are_not_the_target():
    assert found(counts(20, name="valid")) == []
    assert found(counts(20, source=Source.MODEL)) == []


def test_classes_of_which_not_all_were_looked_at_are_the_least():
    assert found(counts(20))[0].title.endswith("one or two classes of 10")
    assert found(counts(8, batches=8))[0].title.endswith("one or two classes of at least 10")
