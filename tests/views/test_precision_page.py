"""This file tests the page of devices and precision."""

import math

from torchmagic.records.activation import TensorFacts
from torchmagic.records.device import DeviceRecord, DeviceTotal
from torchmagic.records.model import ParameterRecord
from torchmagic.records.precision import AutocastRecord, GradScalerRecord, SkippedStepRecord
from torchmagic.session.run import Run
from torchmagic.views.page import Facts, Plot, Table, Text
from torchmagic.views.precision import precision_page


def parameter(dtype="float32", device="cpu"):
    return ParameterRecord(
        name="net.weight", model="net", module="net", shape=(2,), dtype=dtype, device=device, trainable=True
    )


def placed(device):
    total = DeviceTotal(device=device, num_tensors=1, num_bytes=8)
    facts = TensorFacts(shape=(1,), dtype="float32", device=device)
    return DeviceRecord(model="net", step=0, parameters=(total,), buffers=(), inputs=(facts,))


def facts(run):
    return dict(row for block in precision_page(run).blocks if isinstance(block, Facts) for row in block.rows)


def made(*records):
    run = Run()
    run.records += records
    return run


def test_float32_on_one_cpu_is_not_worth_a_page():
    run = made(parameter(), placed("cpu"))
    run.frame("grad_scale", ("",)).append(0, (1.0,))
    assert precision_page(run).blocks == []


def test_another_device_is_told_with_what_lies_there():
    run = made(parameter(device="cuda:0"), placed("cuda:0"))
    assert facts(run)["devices of net"] == "parameters on cuda:0 (8 B), inputs on cuda:0"
    assert precision_page(run).blocks[0].text == "cuda:0, float32."


def test_types_are_counted_where_one_is_not_float32():
    assert facts(made(parameter(), parameter("bfloat16"), parameter("bfloat16")))["parameter types"] == (
        "bfloat16 (2), float32 (1)"
    )


def test_a_model_with_and_without_autocast_tells_both():
    run = made(
        AutocastRecord(model="net", step=0, enabled=True, device_type="cpu", dtype="bfloat16", inside=False),
        AutocastRecord(model="net", step=7, enabled=False, device_type="", dtype="", inside=False),
    )
    (block,) = [block for block in precision_page(run).blocks if isinstance(block, Facts)]
    assert [value for _, value in block.rows] == ["bfloat16 on cpu from step 0", "also without, from step 7"]


def test_a_scaler_that_is_off_is_said_to_be_off():
    run = made(
        GradScalerRecord(
            step=0,
            optimizer="opt",
            enabled=False,
            scale=math.nan,
            growth_factor=2.0,
            backoff_factor=0.5,
            growth_interval=1,
        )
    )
    assert facts(run)["GradScaler of opt"] == "not enabled"
    assert precision_page(run).blocks[0].text == "Mixed precision."


def test_many_skipped_steps_are_told_by_the_first_and_their_number():
    run = made(*(SkippedStepRecord(step=step, optimizer="opt", scale=1.0, place=None) for step in range(10)))
    assert facts(run)["skipped steps"] == "0, 1, 2, 3, 4, 5 and 4 more"


def test_the_scale_is_drawn_where_it_moves_and_the_least_headroom_listed():
    run = made(parameter("float16"))
    for step, (scale, room) in enumerate([(65536.0, 9.0), (32768.0, math.nan), (32768.0, 2.0)]):
        run.frame("grad_scale", ("",)).append(step, (scale,))
        run.frame("activation_headroom", ("net.a", "net.b")).append(step, (room, math.nan))
        run.frame("grad_headroom", ("net.weight",)).append(step, (1.0,))
    page = precision_page(run)
    assert [block.title for block in page.blocks if isinstance(block, Plot)] == ["gradient scale"]
    (table,) = [block for block in page.blocks if isinstance(block, Table)]
    assert [list(row) for row in table.rows] == [["net.weight", "gradient", 1.0], ["net.a", "activation", 2.0]]


def test_everything_at_once_is_still_one_sentence(full):
    lead = precision_page(full).blocks[0]
    assert isinstance(lead, Text)
    assert lead.text == (
        "cuda:0, float16; autocast to float16; gradients scaled; 1 step skipped; copies between devices in each step."
    )
