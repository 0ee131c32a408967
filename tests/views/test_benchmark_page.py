"""The page of a benchmark: what to take, what each mode is worth, why one was not measured."""

import math
from dataclasses import replace

import pytest
from golden_files import assert_golden

from torchmagic.records.benchmark import BenchmarkRecord, ModeFailure, ModeResult
from torchmagic.views.benchmark import PLAIN, benchmark_page
from torchmagic.views.page import Code, Fold, Plot, Table, Text

LOSSES = tuple(2 / step for step in range(1, 31))
PASTE = 'import torchmagic\n\nmodel = torchmagic.optimize_model(model, "memory_efficient")'


def mode(name, factor, *, memory=48.0, agreement="same", first=0.03, verdict="no difference", **fields):
    step = 0.0123 / factor
    told = {
        "step": step,
        "step_low": 0.95 * step,
        "step_high": 1.1 * step,
        "speedup": factor,
        "speedup_low": 0.97 * factor,
        "speedup_high": 1.04 * factor,
        "num_timed": 100,
        "reference_memory": 48.0,
        "output_difference": 3.1e-3,
        "gradient_difference": 1.2e-4,
        "loss_difference": 2e-3,
        "losses": LOSSES,
    }
    return ModeResult(
        mode=name, memory=memory, agreement=agreement, first_step=first, verdict=verdict, **{**told, **fields}
    )


AMP = mode("amp", 0.6, memory=30.0, agreement="same within bf16 rounding", verdict="slower")
SAVING = mode("memory_efficient", 0.72, memory=21.0, verdict="slower", notes=("in 2 micro-batches",), code=PASTE)
COMPILED = mode(
    "compilation", 1.53, memory=40.0, first=21.4, verdict="faster", code="import torch\n\nmodel = torch.compile(model)"
)
OTHER = mode("full_optimization", 1.9, agreement="differs", speedup_low=0.0, speedup_high=math.inf)
UNFIT = ModeFailure(mode="threads", reason="operators run on 1 thread already")
FOUND = BenchmarkRecord(
    place="one pass of the loop at line 4",
    before="before the loop at line 4",
    reference_step=(0.0123, 0.012, 0.013),
    reference_memory=48.0,
    reference_losses=LOSSES,
    modes=(AMP, UNFIT, SAVING, COMPILED, OTHER),
    recommended="compilation",
    seconds=74.2,
)


def of(found, kind):
    return [each for each in benchmark_page(found).blocks if isinstance(each, kind)]


def headline(found):
    return of(found, Text)[0].text


def test_a_benchmark_reads_well():
    assert_golden(benchmark_page(FOUND), "benchmark")


def test_code_is_shown_for_what_is_recommended_and_folded_for_what_saves_memory():
    assert [each.text for each in of(FOUND, Code)] == [COMPILED.code]
    (fold,) = [each for each in of(FOUND, Fold) if each.title == "Code for memory_efficient"]
    assert [each.text for each in fold.blocks if isinstance(each, Code)] == [PASTE]
    # 21.392 s more at once, 4.261 ms less a step
    assert "it pays after 5,021 steps." in " ".join(each.text for each in of(FOUND, Text))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"recommended": ""}, "Nothing is recommended: no mode is faster beyond noise and computes the same."),
        ({"recommended": "", "modes": (UNFIT,)}, "No mode could be measured; below it says why."),
        (
            {"recommended": "amp"},
            "amp makes a step 0.60 times as fast (99% sure: 0.58 to 0.62 times), and computes the",
        ),
    ],
)
def test_the_headline_says_what_to_do(fields, told):
    assert headline(replace(FOUND, **fields)).startswith(told)


def test_without_a_result_there_is_no_plain_loop_and_no_figure():
    found = replace(FOUND, modes=(UNFIT,), recommended="", reference_step=None, is_complete=False)
    (table,) = of(found, Table)
    assert [row[0] for row in table.rows] == ["threads"]
    assert not of(found, Plot)
    assert "It was stopped before all modes had their turn." in [each.text for each in of(found, Text)]


def test_rows_that_differ_or_failed_are_marked_and_too_few_steps_are_told():
    (table,) = of(FOUND, Table)
    assert {table.rows[row][0] for row in table.marked} == {"threads", "full_optimization"}
    assert table.rows[-1][3] == "100 steps are too few"
    (of_one,) = of(replace(FOUND, modes=(replace(FOUND.modes[-1], num_timed=1),)), Table)
    assert of_one.rows[-1][3] == "1 step is too few"
    (figure,) = of(FOUND, Plot)
    assert [line.name for line in figure.lines] == [PLAIN, "amp", "memory_efficient", "compilation"]


@pytest.mark.parametrize("memory", [44.0, 47.5])
def test_a_small_saving_of_memory_is_not_worth_a_sentence(memory):
    found = replace(FOUND, modes=(mode("amp", 1.0, memory=memory),), recommended="")
    assert not [each for each in of(found, Text) if "less memory" in each.text]
