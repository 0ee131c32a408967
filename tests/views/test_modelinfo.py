"""This file is the page of one model, from records written by hand."""

import dataclasses
import subprocess
import sys

import pytest
from golden_files import assert_golden

from torchmagic.records.modelinfo import (
    Concern,
    ForwardFacts,
    Held,
    HeldTensor,
    ModelRecord,
    ModulePart,
    PipelineRecord,
    TrainingMemory,
)
from torchmagic.views.modelinfo import model_page
from torchmagic.views.module_tree import tree_rows
from torchmagic.views.page import Fold, Table, Text
from torchmagic.views.pipeline import pipeline_page


def part(path, class_name, **facts):
    return ModulePart(path=path, class_name=class_name, training=True, **facts)


def block(path, **facts):
    run = {"calls": 1, "inputs": "2×8", "output": "2×8", "flops": 256, "seconds": 1e-5, "saved_bytes": 64, **facts}
    held = {"num_parameters": 72, "num_trainable": 72, "num_bytes": 288, "is_used": True}
    yield part(path, "Block", **held, **run)
    yield part(f"{path}.layer", "Linear", settings="8, 8", has_own=True, **held, **run)


RUN = {"calls": 1, "inputs": "2×8", "output": "2×8", "is_used": True, "flops": 768, "seconds": 1e-4, "saved_bytes": 192}
MODULES = (
    part("", "Net", num_parameters=225, num_trainable=216, num_bytes=900, **RUN),
    part("blocks", "Sequential", num_parameters=216, num_trainable=216, num_bytes=864, **RUN),
    *block("blocks.0", saved_bytes=0),
    *block("blocks.1"),
    *block("blocks.2"),
    part("spare", "Linear", num_parameters=9, num_bytes=36, calls=0, is_used=False, has_own=True),
    part("again", "Sequential", shared_with="blocks"),
)
WEIGHT = HeldTensor(
    name="blocks.0.layer.weight",
    held=Held.PARAMETER,
    shape=(8, 8),
    dtype="float32",
    device="cpu",
    num_elements=216,
    num_bytes=864,
    trainable=True,
    also=("again.0.layer.weight",),
)
FROZEN = dataclasses.replace(
    WEIGHT, name="spare.weight", shape=(9,), num_elements=9, num_bytes=36, trainable=False, also=()
)
MEMORY = TrainingMemory(
    optimizer="adamw", parameters=900, gradients=864, state=1728, buffers=0, batch=64, activations=192
)
RECORD = ModelRecord(
    name="net",
    class_name="Net",
    modules=MODULES,
    tensors=(WEIGHT, FROZEN),
    concerns=(
        Concern(kind="non-finite", names=("spare.weight",), text="2 of 9 values are NaN or infinite", is_wrong=True),
        Concern(kind="all-zero", names=tuple(f"blocks.{i}.layer.weight" for i in range(3)), text="every value is zero"),
        Concern(kind="unused", names=("spare",), text="never used by this forward"),
    ),
    forward=ForwardFacts(
        call="model(batch)",
        inputs="2×8",
        output="2×8",
        mode="training",
        input_bytes=64,
        flops=768,
        saved_bytes=192,
        seconds=1e-4,
    ),
    memory=(MEMORY, dataclasses.replace(MEMORY, optimizer="sgd", state=0)),
    notes=("a note",),
)
FAILED = dataclasses.replace(
    RECORD,
    concerns=(),
    forward=ForwardFacts(
        call="model(batch)",
        inputs="2×9",
        error="RuntimeError: shapes do not fit",
        failed_in="blocks.0.layer",
        failed_class="Linear",
        failed_inputs="2×9",
    ),
)


def tables(page):
    return [block for block in page.blocks if isinstance(block, Table)]


def strong(page):
    return [block.text for block in page.blocks if isinstance(block, Text) and block.strong]


def test_the_page_of_a_model_that_was_run():
    assert_golden(model_page(RECORD), "model")


def test_the_page_of_a_model_that_was_not_run():
    still = tuple(part(each.path, each.class_name, num_parameters=each.num_parameters) for each in MODULES)
    assert_golden(
        model_page(dataclasses.replace(RECORD, modules=still, forward=None, likely_input="1,8")), "model_not_run"
    )


def test_the_page_of_several_models():
    other = dataclasses.replace(RECORD, name="text", concerns=(), notes=())
    pipeline = PipelineRecord(
        name="pipe",
        class_name="Pipe",
        components=(dataclasses.replace(RECORD, name="image"), other),
        others=(("scheduler", "Steps"),),
        num_parameters=225,
        num_bytes=900,
        notes=("several models: none of them was run",),
    )
    assert_golden(pipeline_page(pipeline), "pipeline")


def test_modules_that_are_alike_stand_in_one_row_whose_numbers_are_of_all():
    rows = tree_rows(MODULES, root="net")
    assert [row.label.replace("\u00a0", " ") for row in rows] == [
        "net: Net",
        "├─ blocks: Sequential",
        "│  └─ (0..2): 3 × Block",
        "│     └─ layer: Linear",
        "├─ spare: Linear",
        "└─ again: Sequential",
    ]
    assert [row.count for row in rows] == [1, 1, 3, 1, 1, 1]
    assert [row.is_repeated for row in rows] == [False, False, False, True, False, False]
    assert rows[2].part.saved_bytes == round((0 + 64 + 64) / 3)
    assert tables(model_page(RECORD))[0].rows[2][3] == 3 * 72


@pytest.mark.parametrize("differs", [{"output": "2×7"}, {"training": False}, {"num_trainable": 0}, {"settings": "p=1"}])
def test_modules_that_differ_stand_apart(differs):
    modules = tuple(dataclasses.replace(each, **differs) if each.path == "blocks.2.layer" else each for each in MODULES)
    labels = [row.label for row in tree_rows(modules)]
    assert sum("2 × Block" in label for label in labels) == 1
    assert sum("2: Block" in label for label in labels) == 1


def test_neighbours_of_different_names_stand_apart_and_of_different_numbers_do_not():
    same = {"num_parameters": 6, "num_trainable": 6}
    names = ("norm1", "norm2", "encoder", "decoder")
    rows = tree_rows((part("", "Net"), *(part(name, "Linear", **same) for name in names)))
    assert [row.count for row in rows] == [1, 2, 1, 1]


def test_a_module_that_something_is_wrong_with_is_not_hidden_among_others():
    rows = tree_rows(MODULES, marked=frozenset({"blocks.1.layer"}))
    assert [row.part.path for row in rows if row.is_marked] == ["blocks.1.layer"]
    assert not any("×" in row.label for row in rows)


def test_depth_limits_the_levels_shown():
    assert len(tree_rows(MODULES, depth=0)) == 1
    assert [row.depth for row in tree_rows(MODULES, depth=1)] == [0, 1, 1, 1]


def test_strong_texts_are_what_is_wrong_and_nothing_else():
    assert strong(model_page(RECORD)) == ["spare.weight: 2 of 9 values are NaN or infinite."]
    assert strong(model_page(FAILED)) == [
        (
            "Its forward raised in blocks.0.layer (Linear), which was given 2×9: RuntimeError: shapes do not fit. "
            "What follows is known without running it."
        )
    ]
    assert tables(model_page(FAILED))[0].marked


def test_many_names_that_differ_in_a_number_are_one_with_a_star():
    worth = tables(model_page(RECORD))[1]
    assert worth.rows[0][:2] == ("all-zero", "blocks.*.layer.weight")


def test_the_remarks_say_what_is_not_as_usual():
    table = tables(model_page(RECORD))[0]
    remarks = {row[0].replace("\u00a0", ""): row[list(table.columns).index("remarks")] for row in table.rows}
    assert remarks["├─spare: Linear"] == "frozen, never used"
    assert remarks["└─again: Sequential"] == "same as blocks"


def test_every_tensor_can_be_unfolded():
    fold = next(block for block in model_page(RECORD).blocks if isinstance(block, Fold) and "tensors" in block.title)
    assert [row[0] for row in fold.blocks[0].rows] == ["blocks.0.layer.weight", "spare.weight"]


def test_names_are_text_and_not_markup():
    from torchmagic.views.skins.html import as_html  # noqa: PLC0415

    evil = dataclasses.replace(RECORD, name="<script>x</script>", class_name="<b>")
    assert "<script>x" not in as_html(model_page(evil))


def test_the_page_is_made_without_torch():
    code = "import sys, torchmagic.views.pipeline; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
