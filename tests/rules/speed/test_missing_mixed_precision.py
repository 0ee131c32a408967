"""This file tests the rule on mixed precision, on records written by hand."""

import pytest

from torchmagic.records.precision import AutocastRecord, HalfWeightsRecord
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
    assert found.why == (
        "The processor multiplies bfloat16 by instructions of its own, 2.2x as fast as float32 when it was tried. "
        "How much that saves in this model was not measured."
    )


def test_what_was_measured_is_quoted_and_surer(profiled):
    (found,) = missing_mixed_precision(multiplying(profiled).hardware(half="").add(tried(0.04)).written())
    assert found.title.endswith("bfloat16 makes net 2.5x as fast, as measured")
    assert found.confidence == 0.9
    assert "not measured" not in found.why


def test_hardware_on_which_it_was_slower_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(tried(0.11)).written()))


def test_hardware_without_such_products_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled).hardware(half="").written()))


@pytest.mark.parametrize(
    ("device", "speed", "told"), [("cpu", 1.49, 0), ("cpu", 1.5, 1), ("cpu", None, 0), ("cuda", None, 1)]
)
def test_a_processor_has_to_have_shown_that_it_is_faster(profiled, device, speed, told):
    run = multiplying(profiled).hardware(device=device, half_speed=speed).written()
    assert len(list(missing_mixed_precision(run))) == told


def test_a_small_share_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled, 0.39).hardware().written()))


def test_autocast_around_the_model_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled, autocast=True).hardware().written()))


def test_autocast_around_one_of_two_models_is_silent(profiled):
    run = multiplying(profiled, autocast=True).model(model="other").hardware().written()
    assert not list(missing_mixed_precision(run))


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


@pytest.mark.parametrize(
    "text",
    ["net.to(torch.bfloat16)", "x = x.type(torch.float16)", "net = net.half()", "torch.backends.cuda.allow_tf32 = x"],
)
def test_each_word_of_somebody_who_chose_the_types_is_a_reason(profiled, text):
    sources = SourcesRecord(texts={"train.py": text})
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(sources).written()))


def test_half_weights_seen_anywhere_are_silent(profiled):
    seen = HalfWeightsRecord(model="net", step=0, dtype="bfloat16", num_half=1, num_parameters=2)
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(seen).written()))


def test_a_gain_within_its_uncertainty_is_silent(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled).hardware().add(tried(0.0975)).written()))


def test_without_a_model_or_hardware_nothing_is_told(profiled):
    multiplied = profiled.module().operator("mm", 0.5)
    assert not list(missing_mixed_precision(multiplied.written()))
    assert not list(missing_mixed_precision(multiplied.hardware().written()))


def test_without_known_hardware_nothing_is_told_of_a_model(profiled):
    assert not list(missing_mixed_precision(multiplying(profiled).written()))


def test_an_accelerator_is_surer_than_a_processor_and_named(profiled):
    run = multiplying(profiled).hardware(device="cuda", half="float16", half_speed=None).written()
    (found,) = missing_mixed_precision(run)
    assert found.confidence == 0.6
    assert found.why.startswith("The accelerator multiplies float16 by instructions of its own. How much")
    assert found.fix.startswith('with torch.autocast("cuda", dtype=torch.bfloat16)')


@pytest.mark.parametrize(("share", "told"), [(0.5, 1), (0.51, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, share, told):
    assert len(list(missing_mixed_precision(multiplying(profiled).hardware().written(), min_share=share))) == told


@pytest.mark.parametrize(("gain", "told"), [(0.5, 1), (0.51, 0)])
def test_a_gain_that_is_just_enough_is_told(profiled, gain, told):
    halved = VerifiedRecord(cure="bfloat16", subject="net", what="forward", trials=9, before=0.5, after=0.25, spread=0)
    run = multiplying(profiled).hardware().add(halved).written()
    assert len(list(missing_mixed_precision(run, min_gain=gain))) == told
