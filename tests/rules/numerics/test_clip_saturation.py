"""This file tests the rule on clipping that never stops, on norms written by hand."""

import pytest

from torchmagic.records.clipping import ClippingLineRecord
from torchmagic.records.place import Place
from torchmagic.records.precision import Deed, ScaledGradientsRecord
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


def test_nine_steps_of_ten_are_needed_however_much_each_is_clipped(history):
    assert len(found(history, [8.0] * 27 + [0.5] * 3, [1.0] * 27 + [0.5] * 3)) == 1


def test_most_steps_are_not_nearly_every_step(history):
    assert found(history, [8.0] * 26 + [0.5] * 4, [1.0] * 26 + [0.5] * 4) == []


def test_steps_without_a_gradient_are_left_out(history):
    assert len(found(history, [8.0] * 30, [1.0] * 20 + [0.0] * 10)) == 1
    assert found(history, [8.0] * 30, [1.0] * 19 + [0.0] * 11) == []


def test_norms_of_which_one_has_a_scale_in_it_are_not_compared(history):
    history.run.records.append(ScaledGradientsRecord(step=0, deed=Deed.CLIP, scale=1024.0, place=None))
    assert found(history, [468.0] * 30, [0.001] * 30) == []


@pytest.mark.parametrize(("lines", "told"), [((7,), 7), ((7, 9), None), ((), None)])
def test_the_only_line_that_clips_is_shown(history, lines, told):
    for line in lines:
        place = Place(file="<cell>", line=line, source="clip_grad_norm_(net.parameters(), 1.0)")
        history.run.records.append(ClippingLineRecord(step=0, place=place))
    (finding,) = found(history, [8.0] * 30, [1.0] * 30)
    assert finding.line == told
