"""This file tests the rules on scores in a binary cross-entropy and on batches without targets, on records by hand."""

from tests.rules.loss.loss_input_records import given, run_with
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.rules.loss.all_targets_ignored import all_targets_ignored
from torchmagic.rules.loss.bce_on_logits import MESSAGE, bce_on_logits


def crash(message):
    return CrashRecord(error="RuntimeError", message=message, file="<cell>", line=9, source="loss = bce(net(x), y)")


def test_the_crash_on_scores_is_explained_and_others_are_not():
    (finding,) = bce_on_logits(run_with(crash(MESSAGE)))
    assert (finding.line, finding.source) == (9, "loss = bce(net(x), y)")
    assert list(bce_on_logits(run_with(crash("all elements of target should be between 0 and 1")))) == []


def test_scores_cut_to_the_range_are_told_and_a_guard_against_rounding_is_not():
    assert len(list(bce_on_logits(run_with(given("binary_cross_entropy", at_limits=0.2))))) == 1
    assert list(bce_on_logits(run_with(given("binary_cross_entropy", at_limits=0.19)))) == []
    assert list(bce_on_logits(run_with(given("binary_cross_entropy", at_limits=0.9, source="sigmoid")))) == []
    assert list(bce_on_logits(run_with(given("binary_cross_entropy", 2, at_limits=0.9)))) == []


def test_a_batch_without_targets_is_told_once():
    line = Place(file="<cell>", line=4, source="loss = F.cross_entropy(net(x), y)")
    records = [
        NonfiniteRecord(birth=Birth.FORWARD, step=step, op="nll_loss", place=line, cause=Cause.NO_TARGETS)
        for step in (3, 5)
    ]
    (finding,) = all_targets_ignored(run_with(records))
    assert (finding.line, finding.step) == (4, 3)


def test_another_cause_is_silent():
    assert list(all_targets_ignored(run_with(NonfiniteRecord(birth=Birth.FORWARD, step=3, op="log")))) == []
