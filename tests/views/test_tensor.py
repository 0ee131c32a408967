"""This file is the page of one tensor, from records written by hand."""

import dataclasses
import subprocess
import sys

from torchmagic.records.tensor import GradientSummary, Histogram, Statistics, TensorRecord
from torchmagic.records.tensor_relations import Comparison
from torchmagic.views.page import Bars, Code, Facts, Text
from torchmagic.views.tensor import tensor_page

STATISTICS = Statistics(
    num_values=8,
    num_nan=1,
    num_neginf=1,
    num_zero=2,
    num_negative=2,
    min=-1.0,
    max=3.0,
    mean=1.0,
    std=1.8257418583505538,
    abs_max=3.0,
    l2=3.7416573867739413,
    quantiles=((0.25, -0.25), (0.5, 1.0)),
    nonfinite_at=((0, 2), (1, 0)),
)
RECORD = TensorRecord(
    name="x",
    kind="Parameter",
    shape=(2, 4),
    dtype="float32",
    device="cpu",
    layout="strided",
    strides=(4, 1),
    contiguous=True,
    memory_format="contiguous",
    requires_grad=True,
    version=2,
    num_elements=8,
    num_bytes=32,
    storage_bytes=96,
    storage_offset=6,
    is_view=True,
    statistics=STATISTICS,
    histogram=Histogram(edges=(-1.0, 1.0, 3.0), counts=(2, 2)),
    values="[[0., 1., nan]]",
    gradient=GradientSummary(dtype="float32", shape=(2, 4), norm=0.5, abs_max=0.25, num_nonfinite=0),
    notes=("a note",),
)


def strong(page):
    return [block.text for block in page.blocks if isinstance(block, Text) and block.strong]


def facts(page):
    return dict(row for block in page.blocks if isinstance(block, Facts) for row in block.rows)


def test_the_page_says_the_headline_then_the_warning_then_the_facts():
    page = tensor_page(RECORD)
    assert page.title == "x: Parameter"
    assert page.blocks[0] == Text(text="float32 [2, 4] on cpu, 8 elements, -1 to 3, mean 1 ± 1.826")
    assert strong(page) == ["Not finite: 1 NaN, 1 -Inf of 8 values (25%), the first at [0, 2], [1, 0]."]
    assert [type(block) for block in page.blocks] == [Text, Text, Facts, Bars, Facts, Code, Text]
    assert page.blocks[-1] == Text(text="Note: a note.")


def test_every_fact_is_told():
    assert facts(tensor_page(RECORD)) == {
        "min · max": "-1 · 3",
        "mean · std": "1 · 1.826",
        "quantiles": "25%: -0.25 · 50%: 1",
        "largest magnitude": "3",
        "L2 norm": "3.742",
        "NaN · +Inf · -Inf": "1 · 0 · 1",
        "zero": "2 (25%)",
        "negative": "2 (25%)",
        "shape": "[2, 4], 8 elements",
        "dtype": "float32",
        "device": "cpu",
        "layout": "strided, strides [4, 1], contiguous",
        "memory": "32 B, a view, in a block of 96 B, from element 6 on",
        "autograd": "requires grad, leaf, changed in place 2 times",
        "gradient": "float32, L2 norm 0.5, largest magnitude 0.25",
    }


def test_truth_values_are_counted_and_nothing_else():
    truths = Statistics(num_values=8, num_zero=3, min=0, max=1, mean=0.625, std=0.5, abs_max=1, l2=2.2, num_distinct=2)
    page = tensor_page(dataclasses.replace(RECORD, dtype="bool", statistics=truths))
    assert page.blocks[0] == Text(text="bool [2, 4] on cpu, 8 elements, 5 of them True")
    assert list(facts(page).items())[:3] == [("True", "5 (62%)"), ("False", "3 (38%)"), ("shape", "[2, 4], 8 elements")]
    same = dataclasses.replace(truths, num_zero=8, max=0)
    assert (
        "8 elements, all False"
        in tensor_page(dataclasses.replace(RECORD, dtype="bool", statistics=same)).blocks[0].text
    )


def test_magnitudes_are_not_counted_as_negative():
    assert "negative" not in facts(tensor_page(dataclasses.replace(RECORD, dtype="complex64")))


def test_a_sound_tensor_has_no_warning():
    sound = dataclasses.replace(STATISTICS, num_nan=0, num_neginf=0, nonfinite_at=())
    assert strong(tensor_page(dataclasses.replace(RECORD, statistics=sound))) == []


def test_a_sick_gradient_is_a_warning():
    sick = GradientSummary(dtype="float32", shape=(3, 2), norm=None, abs_max=None, num_nonfinite=6)
    page = tensor_page(dataclasses.replace(RECORD, statistics=None, gradient=sick))
    assert strong(page) == [
        "Its gradient is not finite: 6 values NaN or infinite.",
        "Its gradient has another shape: [3, 2].",
    ]
    assert facts(page)["gradient"] == "float32 [3, 2], no finite value"


def test_what_is_not_known_is_left_out():
    page = tensor_page(
        TensorRecord(name="", kind="Tensor", shape=(2, -1), dtype="float32", device="meta", layout="jagged")
    )
    assert page.title == "Tensor"
    assert [type(block) for block in page.blocks] == [Text, Facts]
    assert facts(page)["shape"] == "[2, ragged], 0 elements"


def test_a_sampled_histogram_and_sampled_quantiles_say_so():
    sampled = dataclasses.replace(STATISTICS, num_sampled=65536)
    bars = Histogram(edges=(0.0, 1.0), counts=(4,), num_sampled=65536)
    page = tensor_page(dataclasses.replace(RECORD, statistics=sampled, histogram=bars))
    assert facts(page)["quantiles"] == "25%: ≈ -0.25 · 50%: ≈ 1"
    assert page.blocks[3].title == "Histogram of a sample of 65,536 values"


def test_equal_values_are_told_as_one():
    same = Statistics(num_values=3, num_nan=1, min=2.0, max=2.0, mean=2.0, std=0.0, abs_max=2.0, l2=2.8)
    page = tensor_page(dataclasses.replace(RECORD, statistics=same))
    assert page.blocks[0].text.endswith(", all finite ones 2")


def test_the_page_is_made_without_torch():
    code = "import sys, torchmagic.views.tensor; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_large_whole_numbers_are_told_from_each_other():
    ends = dataclasses.replace(STATISTICS, min=2**62, max=2**62 + 3, mean=2.0**62 + 1, std=1.5)
    record = dataclasses.replace(RECORD, statistics=ends)
    told = "4,611,686,018,427,387,904 {} 4,611,686,018,427,387,907"
    page = tensor_page(record)
    assert told.format("to") in page.blocks[0].text
    assert facts(page)["min · max"] == told.format("·")
    compared = Comparison(other="y", other_dtype="int64", num_values=8, num_different=1, num_outside=1, max_abs=3.0)
    compared = dataclasses.replace(compared, max_abs_at=(1, 2), max_abs_values=(2**62, 2**62 + 3))
    page = tensor_page(dataclasses.replace(record, comparison=compared))
    assert facts(page)["largest difference"] == "3 at [1, 2]: 4611686018427387904 and 4611686018427387907"


def test_nearly_all_values_do_not_read_as_all():
    nearly = Statistics(num_values=10_000, num_zero=9_997)
    assert facts(tensor_page(dataclasses.replace(RECORD, statistics=nearly)))["zero"] == "9,997 (>99.9%)"


def test_of_complex_numbers_the_headline_tells_magnitudes():
    numbers = Statistics(num_values=3, min=0.5, max=2.0, mean=1.0, std=0.5, abs_max=2.0, l2=2.8)
    record = dataclasses.replace(RECORD, dtype="complex64", statistics=numbers)
    assert ", magnitudes 0.5 to 2, mean 1 ± 0.5" in tensor_page(record).blocks[0].text
