"""This file tests the page of a comparison."""

import math
from dataclasses import replace

import pytest
from golden_files import assert_golden
from several_runs import LOST_GRADIENTS, bad, good, training

from torchmagic.records.beginning import BeginningRecord
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.session.run import Run
from torchmagic.views.comparison import comparison_page
from torchmagic.views.page import Diff, Facts, Plot, Table, Text


def verdict(*runs):
    return comparison_page(runs).blocks[0].text


def of(runs, kind):
    return [block for block in comparison_page(runs).blocks if isinstance(block, kind)]


def judged(runs):
    fold = comparison_page(runs).blocks[1]
    assert fold.title == "How the losses were judged"
    return fold.blocks[0].text


def objective(*criteria):
    return ObjectiveRecord(
        loss="loss", place=None, step=0, criteria=criteria, mixed=False, sign=1, scale=1.0, weighted=False,
        log_prob=False, num_classes=10, altered=False,
    )  # fmt: skip


def test_two_runs_read_well():
    assert_golden(comparison_page([good(), bad()]), "comparison")


def test_three_runs_read_well():
    third = training(number=6, lr=0.01, floor=0.2, steps=60)
    assert_golden(comparison_page([good(), bad(), third]), "comparison_of_three")


def test_the_verdict_names_causes_then_the_loss_then_findings():
    assert verdict(good(), bad()) == (
        "Run 5 differs from run 4 by lr 0.1 → 1 and 2 lines of source; its loss ends higher, at 1.86 instead of 0.203 "
        "in the mean of the last 8 values; one error more."
    )


def test_the_same_run_twice_has_no_difference_and_its_curves_are_the_same_bits():
    again = training(number=9, name="baseline")
    assert verdict(good(), again) == (
        "No difference found between run 4 and run 9 in source, training, settings, environment and findings; loss and "
        "evaluation loss are the same to the last bit, the gradient norm to 5 digits."
    )
    assert not of([good(), again], Diff)
    assert [table.title for table in of([good(), again], Table)] == ["Results"]


def test_one_bit_is_a_difference_that_nothing_recorded_explains():
    again = training(number=9, name="baseline")
    again.frame("loss", ("loss",)).append(40, (0.2,))
    again.steps = 40
    other = training(number=4, name="baseline")
    other.frame("loss", ("loss",)).append(40, (math.nextafter(0.2, 1),))
    said = verdict(other, again)
    assert said.startswith(
        "Nothing recorded of what run 9 was given differs from run 4 in source, training, settings and environment; "
    )
    assert "given the same" not in said
    assert "What is not recorded may explain it: another seed, data, values set outside of the source" in said
    assert "are the same bits for the first 40 steps" in judged([other, again])


def test_a_seed_that_is_known_to_be_equal_is_not_named():
    runs = [training(number=number, floor=0.2 + number / 5) for number in (1, 2)]
    for run in runs:
        run.records.append(BeginningRecord(seed=3, random="aa", values="bb"))
        run.records[0] = replace(run.records[0], seed=run.number)  # as the run opened
    said = verdict(*runs)
    assert "What is not recorded may explain it: later data, values set outside" in said
    assert "seed" not in said


def test_headers_of_two_cells_are_no_difference():
    one, other = training(number=1), training(number=2)
    one.source = f"%%torchdebug --name a\n{one.source}"
    other.source = f"%%torchdebug --panel none\n%%torchprofile\n{other.source}"
    assert verdict(one, other).startswith("No difference found")
    assert not of([one, other], Diff)


def test_another_cell_that_was_changed_is_named_and_shown():
    one, other = training(number=1), training(number=2, floor=0.5)
    one.texts, other.texts, other.file_names = {"<1>": "p = 0.1"}, {"<3>": "p = 0.5"}, {"<3>": "cell 3"}
    assert verdict(one, other).startswith("Run 2 differs from run 1 by the source of cell 3; its loss ends higher")
    assert [(diff.title, diff.lines) for diff in of([one, other], Diff)] == [
        ("Source of cell 3", [("-", "p = 0.1"), ("+", "p = 0.5")])
    ]


def test_a_difference_within_the_scatter_is_not_called_one():
    said = verdict(training(number=1, scatter=0.3), training(number=2, lr=0.2, floor=0.25, scatter=0.3))
    assert "within the scatter of the curves" in said
    assert "instead of" not in said


def test_a_difference_beyond_the_scatter_is():
    assert "its loss ends higher" in verdict(training(number=1), training(number=2, lr=0.2, floor=0.5))


def test_how_losses_were_judged_is_said():
    said = judged([good(), bad()])
    assert said.startswith("An end is the mean of the last 8 values, which scatter by")
    assert "Another seed may move an end further" in said


def test_losses_of_other_functions_are_not_compared():
    one, other = good(), bad()
    one.records.append(objective("cross_entropy"))
    other.records.append(objective("mse_loss"))
    assert "its loss is another function, mse_loss and not cross_entropy, and cannot be compared" in verdict(one, other)


def test_a_loss_that_broke_down_is_told_so():
    broken = bad()
    broken.frame("loss", ("loss",)).append(40, (math.nan,))
    assert "its loss is not finite at the end, and was 1.86 before" in verdict(good(), broken)
    assert "the loss of run 5 is not finite at the end" in verdict(broken, good())


def test_a_single_changed_line_is_quoted():
    other = training(number=2)
    other.source = other.source.replace("nn.Linear(64, 10)", "nn.Linear(64, 10, bias=False)")
    assert "one line of source (net = nn.Linear(64, 10) → net = nn.Linear(64, 10, bias=False))" in verdict(
        good(), other
    )


def test_a_source_that_was_not_kept_is_said_and_not_called_equal():
    other = training(number=2)
    other.source = ""
    assert "source" not in verdict(good(), other)
    assert "The source of run 2 was not kept" in of([good(), other], Text)[-1].text


def test_findings_gained_and_lost_are_listed():
    rows = [row for block in of([good(), bad()], Facts) for row in block.rows]
    assert rows == [("new in run 5", f"ERROR  {LOST_GRADIENTS.title} (rule missing-zero-grad)")]
    assert [row[0] for block in of([bad(), good()], Facts) for row in block.rows] == ["gone in run 4"]
    assert verdict(bad(), good()).endswith("one error fewer.")


def test_curves_share_their_axes_and_wide_ones_are_logarithmic():
    plots = {plot.title: plot for plot in of([good(), bad()], Plot)}
    assert list(plots) == ["loss", "evaluation loss", "gradient norm"]
    assert [line.name for line in plots["loss"].lines] == ["run 4: baseline", "run 5"]
    assert not plots["loss"].log
    tiny = training(number=8, floor=1e-4, scatter=0.0)
    assert {plot.title: plot for plot in of([tiny, bad()], Plot)}["loss"].log


def test_a_learning_rate_is_drawn_only_where_one_moves():
    moving = training(number=8)
    for step in range(40):
        moving.frame("lr", ("optimizer",)).append(step, (0.1 if step < 20 else 0.01,))
    assert "learning rate" in [plot.title for plot in of([good(), moving], Plot)]


def test_parameters_of_only_one_run_are_named():
    other = training(number=8)
    other.records = [record for record in other.records if getattr(record, "model", "") != "net"]
    other.records += good().of(type(good().records[2]))
    assert not [text for text in of([good(), other], Text) if "only in" in text.text]


def test_a_long_difference_of_sources_is_cut_and_says_so():
    one, other = good(), training(number=2)
    one.source, other.source = "\n".join(map(str, range(500))), "\n".join(f"x{i}" for i in range(500))
    (diff,) = of([one, other], Diff)
    assert len(diff.lines) == 121
    assert diff.lines[-1] == ("@", "880 more lines")


def test_runs_without_number_are_told_by_name_or_letter():
    one, other = Run(name="a"), Run()
    assert verdict(one, other).startswith("No difference found between run 'a' and run B in findings")
    assert "run 'a' (A) and run 'a' (B)" in verdict(one, Run(name="a"))


@pytest.mark.parametrize("runs", [[], [good()]])
def test_fewer_than_two_runs_are_refused(runs):
    with pytest.raises(ValueError, match=f"two runs or more, got {len(runs)}"):
        comparison_page(runs)


def test_a_layer_that_only_one_model_has_is_none_in_the_other():
    runs = [good(), bad()]
    for run, layers in zip(runs, ({"Linear layers": "1"}, {"Linear layers": "1", "Softmax dim": "1"}), strict=True):
        run.records.append(BeginningRecord(seed=3, random="aa", layers=layers))
    (table,) = (one for one in of(runs, Table) if one.title == "Layers: what differs")
    assert table.rows == [["Softmax dim", "none", "1"]]
