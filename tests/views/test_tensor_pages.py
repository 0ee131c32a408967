"""This file is the pages of tensors and of objects that hold them, whole, from records written by hand."""

import dataclasses
import re

import pytest
from golden_files import assert_golden

from torchmagic.records.tensor import Histogram, Statistics, TensorRecord
from torchmagic.records.tensor_picture import GAP, NONFINITE, Picture
from torchmagic.records.tensor_relations import Comparison, GraphNode, Headroom, Relations
from torchmagic.records.tensor_tree import Leaf, TensorTree
from torchmagic.views.page import Bars, Image, Plot, Text
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.markdown import as_markdown
from torchmagic.views.skins.text import as_text
from torchmagic.views.skins.wire import as_wire
from torchmagic.views.tensor import tensor_page
from torchmagic.views.tensor_tree import tensor_tree_page

MAP = Picture(
    kind="levels",
    width=5,
    height=4,
    pixels=bytes([0, 60, 120, 180, 253, 0, 60, 120, 180, 253, *[GAP] * 5, 0, NONFINITE, 120, 180, 253]),
    low=-2.0,
    high=2.0,
    palette="diverging",
    told="the map",
)
RECORD = TensorRecord(
    name="hidden",
    kind="Tensor",
    shape=(4, 5),
    dims=("N", "C"),
    dtype="float16",
    device="cpu",
    layout="strided",
    strides=(5, 1),
    contiguous=True,
    memory_format="contiguous",
    requires_grad=True,
    is_leaf=False,
    grad_fn="AddmmBackward0",
    graph=(
        GraphNode(name="AddmmBackward0", hops=0, module="model.fc", inputs=("model.fc.bias",)),
        GraphNode(name="ReluBackward0", hops=1),
    ),
    version=1,
    num_elements=20,
    num_bytes=40,
    storage_bytes=80,
    storage_offset=20,
    is_view=True,
    statistics=Statistics(
        num_values=20,
        num_nan=1,
        num_negative=8,
        num_subnormal=2,
        min=-2.0,
        max=40000.0,
        mean=2000.0,
        std=8000.0,
        abs_max=40000.0,
        l2=40001.0,
        quantiles=((0.5, 0.25),),
        nonfinite_at=((3, 1),),
    ),
    histogram=Histogram(edges=(-2.0, 20000.0, 40000.0), counts=(18, 1)),
    values="[[1., 2.]]",
    headroom=(Headroom(dtype="float16", is_own=True, greatest=65504.0, share=0.61),),
    picture=MAP,
    relations=Relations(names=("h",), shared=("batch[0]",), base="buffer", holders=("'h' of a Net",)),
    comparison=Comparison(
        other="reference",
        other_dtype="float16",
        num_values=20,
        num_different=3,
        num_one_sided=1,
        max_abs=0.5,
        max_abs_at=(1, 2),
        max_abs_values=(1.0, 1.5),
        max_rel=0.25,
        max_rel_at=(0, 0),
        max_ulp=512,
        rtol=1e-3,
        atol=1e-5,
        num_outside=3,
    ),
)
LEAF = Leaf(path="['a']", kind="Tensor", shape=(2, 3), dtype="float32", device="cpu", num_bytes=24, is_measured=True)
TREE = TensorTree(
    name="batch",
    kind="dict",
    facts=(("['id']", "7"),),
    leaves=(
        dataclasses.replace(LEAF, min=0.0, max=1.0, mean=0.5),
        dataclasses.replace(LEAF, path="['<b>']", dtype="bfloat16", num_bytes=12, num_nonfinite=6),
        dataclasses.replace(LEAF, path="['meta']", is_measured=False),
    ),
    num_tensors=3,
    num_elements=18,
    num_bytes=60,
    storage_bytes=100,
    bytes_by_dtype=(("float32", 48), ("bfloat16", 12)),
    num_nonfinite=6,
    notes=("a note",),
)


def strong(page):
    return [block.text for block in page.blocks if isinstance(block, Text) and block.strong]


def only(page, kind):
    (found,) = [block for block in page.blocks if isinstance(block, kind)]
    return found


@pytest.mark.parametrize(("name", "page"), [("tensor", tensor_page(RECORD)), ("tensor_tree", tensor_tree_page(TREE))])
def test_pages_are_as_a_person_read_them(name, page):
    assert_golden(page, name)


def test_the_card_needs_nothing_beside_it():
    html = as_html(tensor_page(RECORD))
    assert "<script" not in html
    assert not re.search('(src|href)="(?!data:)', html)


def test_a_tree_escapes_its_paths_and_marks_what_is_not_finite():
    page = tensor_tree_page(TREE)
    assert strong(page) == ["Not finite: 6 values in 1 tensor, first ['<b>']."]
    html = as_html(page)
    assert "<b>'" not in html
    assert "&lt;b&gt;" in html
    assert "tm-marked" in html


def test_the_warnings_of_a_tensor_are_its_strong_texts():
    assert strong(tensor_page(RECORD)) == [
        "Not finite: 1 NaN of 20 values (5.0%), the first at [3, 1].",
        "Close to overflow: its largest magnitude is 61% of float16's greatest number, 65,504.",
        "Not close to reference: 3 of 20 (15%) outside rtol 0.001, atol 1e-05.",
    ]


def test_a_crowded_histogram_has_heights_by_logarithm_and_a_skewed_one_bins_by_ratio():
    bars = only(tensor_page(RECORD), Bars)
    assert (bars.log, bars.by_ratio) == (True, False)
    skewed = dataclasses.replace(RECORD, histogram=Histogram(edges=(1.0, 10.0, 100.0), counts=(5, 5), by_ratio=True))
    bars = only(tensor_page(skewed), Bars)
    assert (bars.log, bars.by_ratio, bars.title) == (False, True, "Histogram of all finite values, bins by ratio")


def test_a_line_is_a_plot_and_a_map_an_image():
    assert only(tensor_page(RECORD), Image).picture is MAP
    line = dataclasses.replace(
        RECORD, picture=Picture(kind="line", values=(1.0, 2.0), places=(0, 5), told="every 5th of 10 values, in order")
    )
    plot = only(tensor_page(line), Plot)
    assert (plot.lines[0].steps, plot.x_label) == ((0, 5), "element")


def test_every_skin_draws_a_picture():
    page = tensor_page(dataclasses.replace(RECORD, statistics=None, histogram=None, values=""))
    assert "  ░░▒▒▓▓██" in as_text(page)
    assert "blank to full from -2 to 2; not finite is !" in as_markdown(page)
    assert "blank to full from -2 to 2; not finite is !" in as_text(page)
    assert any("blue to red" in str(block.get("text")) for block in as_wire(page)["blocks"])
