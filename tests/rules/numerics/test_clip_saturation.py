"""This file tests the rule on clipping that never stops, on norms written by hand."""

from torchmagic.rules.numerics.clip_saturation import clip_saturation


def found(history, before, after):
    return list(clip_saturation(history.series("grad_norm_before_clip", before).series("grad_norm", after).run))


def test_steps_that_are_all_clipped_by_a_lot_are_told_mildly(history):
    (finding,) = found(history, [8.0] * 30, [1.0] * 30)
    assert finding.severity == "info"


def test_clipping_by_little_is_silent(history):
    assert found(history, [4.0] * 30, [1.0] * 30) == []


def test_clipping_now_and_then_is_silent(history):
    assert found(history, [8.0, 0.5] * 15, [1.0, 0.5] * 15) == []


def test_a_few_steps_are_too_few(history):
    assert found(history, [8.0] * 19, [1.0] * 19) == []
