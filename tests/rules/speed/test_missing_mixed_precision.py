"""This file tests the rule on mixed precision, on records written by hand."""

import pytest

from torchmagic.records.precision import AutocastRecord
from torchmagic.records.profile import SourcesRecord
from torchmagic.records.speed import VerifiedRecord
from torchmagic.rules.speed.missing_mixed_precision import missing_mixed_precision


def multiplying(profiled, seconds=0.5, **model):
    return profiled.model(**model).module().operator("addmm", seconds - 0.1).operator("mm", 0.1, phase="backward")


def tried(after):
    return VerifiedRecord(
        cure="bfloat16", subject="net", what="forward and backward", trials=9, before=0.1, after=after, spread=0.01
    )


def test_products_in_float32_on_hardware_with_better_ones_are_told_as_unmeasured(profiled):
    (found,) = missing_mixed_precision(multiplying(profiled).hardware().written())
    assert found.title == "products in float32 take 50 ms a step (50% of the time)"
    assert found.confidence == 0.5
    assert "2.2x as fast as float32 when it was tried" in found.why
    assert "in this model was not measured" in found.why


def test_what_was_measured_is_quoted_and_surer(profiled):
    (found,) = missing_mixed_precision(multiplying(profiled).hardware(half="").add(tried(0.04)).written())
    assert found.title.endswith("bfloat16 makes net 2.5x as fast, as measured")
    assert found.confidence == 0.9
    assert "not measured" not in found.why


def test_hardware_on_which_it_was_slower_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(tried(0.11)).written()))


def test_hardware_without_such_products_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled).hardware(half="").written()))


@pytest.mark.parametrize(("device", "speed", "told"), [("cpu", 1.4, 0), ("cpu", None, 0), ("cuda", None, 1)])
def test_a_processor_has_to_have_shown_that_it_is_faster(profiled, device, speed, told):
    run = multiplying(profiled).hardware(device=device, half_speed=speed).written()
    assert len(list(missing_mixed_precision(run))) == told


def test_a_small_share_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled, 0.39).hardware().written()))


def test_autocast_around_the_model_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled, autocast=True).hardware().written()))


def test_autocast_seen_anywhere_is_silent(profiled):
    seen = AutocastRecord(model="net", step=0, enabled=True, device_type="cpu", dtype="bfloat16", inside=True)
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(seen).written()))


@pytest.mark.parametrize("text", ["with torch.autocast('cpu'):", "torch.set_float32_matmul_precision('high')"])
def test_code_that_chooses_its_types_is_silent(profiled, text):
    sources = SourcesRecord(texts={"train.py": text})
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(sources).written()))


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_weights_of_another_type_are_silent(profiled, dtype):
    assert not list(missing_mixed_precision(multiplying(profiled).module("1", dtype).hardware().written()))
