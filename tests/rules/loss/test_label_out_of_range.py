"""Labels that are no class are told with their value and the number of classes."""

import pytest

from torchmagic.records.crash import CrashKind, CrashSiteRecord, TargetRangeRecord, TensorFact
from torchmagic.records.place import Place
from torchmagic.rules.loss.label_out_of_range import MIN_BATCHES, label_out_of_range
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=4, source="loss = criterion(logits, y)")


def crashed(value, limit, message="Target 3 is out of bounds.", *, alike=False):
    run = Run()
    facts = (TensorFact(name="logits", shape=(9, 3), dtype="float32", device="cpu"),
             TensorFact(name="y", shape=(9,), dtype="int64", device="cpu"))  # fmt: skip
    run.records.append(
        CrashSiteRecord(
            problem=CrashKind.LABEL, error="IndexError", message=message, place=LINE, operation="cross_entropy",
            operands=facts, tensors=facts, value=value, limit=limit, num_bad=4, num_values=9, alike=alike,
        )
    )  # fmt: skip
    (found,) = label_out_of_range(run)
    return found


def silent(batches, low=-1.0, high=1.0, *, swapped=False):
    run = Run()
    run.records += [
        TargetRangeRecord(
            step=step, loss="bce", low=low, high=high, num_bad=3, num_values=9, target="y", place=LINE,
            reversed=swapped,
        )
        for step in range(batches)
    ]  # fmt: skip
    return list(label_out_of_range(run))


def test_a_label_equal_to_the_number_of_classes_is_one_too_many():
    found = crashed(3, 3)
    assert found.title == "y holds label 3; with 3 classes they go from 0 to 2"
    assert found.evidence["labels out of range"] == "4 of 9"
    assert found.fix.startswith("y = y - 1")
    assert found.line == 4


def test_a_negative_label_wants_to_be_left_out():
    assert "ignore_index=-1" in crashed(-1, 3, "Target -1 is out of bounds.").fix


def test_a_label_far_beyond_wants_more_outputs():
    assert crashed(255, 3).fix.startswith("give the last layer 256 outputs")


def test_a_single_label_far_beyond_may_mark_what_has_no_class():
    assert crashed(255, 3, alike=True).fix.startswith("F.cross_entropy(…, y, ignore_index=255)")
    assert crashed(5, 3, alike=True).fix.startswith("give the last layer 6 outputs")


def test_targets_of_a_binary_loss_lie_between_0_and_1():
    found = crashed(2, 2, "all elements of target should be between 0 and 1")
    assert found.title == "y holds 2; the targets of a binary loss lie between 0 and 1"


@pytest.mark.parametrize(("batches", "told"), [(MIN_BATCHES - 1, 0), (MIN_BATCHES, 1)])
def test_a_binary_loss_that_takes_any_target_is_told_after_some_batches(batches, told):
    assert len(silent(batches)) == told


def test_minus_one_and_one_become_zero_and_one():
    (found,) = silent(MIN_BATCHES)
    assert found.title == "y goes from -1 to 1; the targets of bce lie between 0 and 1"
    assert found.fix == "y = (y + 1) / 2"


def test_a_prediction_in_the_place_of_the_target_is_to_change_places():
    (found,) = silent(MIN_BATCHES, low=-4.0, high=3.0, swapped=True)
    assert "changed places" in found.why
    assert found.fix.startswith("F.bce(y, …)")


def test_labels_in_the_place_of_the_prediction_explain_the_crash_that_they_lead_to():
    run = Run()
    swapped = TargetRangeRecord(
        step=0, loss="bce", low=0.2, high=0.7, num_bad=0, num_values=9, target="out", place=LINE, reversed=True
    )
    message = "all elements of target should be between 0 and 1"
    crash = CrashSiteRecord(problem=CrashKind.LABEL, error="RuntimeError", message=message, place=LINE)
    run.records += [swapped, crash]
    (finding,) = label_out_of_range(run)
    assert finding.fix.startswith("F.bce(out, …)")
    assert "labels as its prediction" in finding.title
    run.records[:] = [crash]
    (finding,) = label_out_of_range(run)
    assert "clamp" in finding.fix
