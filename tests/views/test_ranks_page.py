"""This file tests the page of ranks: a table of few, the spread of many, and what each did last where one is gone."""

import math
import sys
from pathlib import Path

import pytest

from torchmagic.jupyter.panel.tabs import tab_pages
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.rank_beats import HangRecord
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run, Status
from torchmagic.views.page import Findings, Fold, Plot, Table, Text
from torchmagic.views.pages import run_pages
from torchmagic.views.ranks import ranks_page
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.markdown import as_markdown
from torchmagic.views.skins.text import as_text

sys.path.insert(0, str(Path(__file__).parents[1] / "rules" / "ranks"))
from by_hand import PHASES, Made


def blocks(made, kind):
    return [block for block in ranks_page(made.run).blocks if isinstance(block, kind)]


def column(table, name):
    return [row[table.columns.index(name)] for row in table.rows]


def test_a_run_that_was_not_merged_has_no_such_page():
    assert ranks_page(Run()).blocks == []
    assert "Ranks" not in tab_pages(Run())
    assert "Ranks" not in [page.title for page in run_pages(Made(2).rank(0))]


def test_a_merged_run_has_the_page_in_the_panel_and_in_what_is_exported():
    run = Made(2).run
    assert "Ranks" in tab_pages(run)
    assert "Ranks" in [page.title for page in run_pages(run)]


def test_few_ranks_stand_in_one_table_with_their_pace_waits_loss_and_gradient_norm():
    made = Made(4).slow(2, "data", 0.02)
    (lead,) = blocks(made, Text)
    assert lead.text.startswith(
        "4 ranks on 1 host over gloo, started by torchrun: all ended well. 20 steps each, 30 ms"
    )
    assert "Rank 2 waits least: the others wait 20 ms a step longer." in lead.text
    (table,) = blocks(made, Table)
    assert column(table, "rank") == ["0", "1", "2", "3"]
    assert column(table, "waits: data, ms") == pytest.approx([1, 1, 21, 1])
    assert column(table, "waits: ranks, ms") == pytest.approx([21, 21, 1, 21])
    assert column(table, "works, ms") == pytest.approx([8, 8, 8, 8])
    assert column(table, "loss") == pytest.approx([0.1, 0.11, 0.12, 0.13])
    assert "steps" not in table.columns  # all made as many
    assert table.marked == {2}


def test_the_figures_show_each_of_few_ranks_and_the_ends_and_outliers_of_many():
    steps, waiting = blocks(Made(4), Plot)
    assert steps.title == "time per step by rank, ms"
    assert [line.name for line in steps.lines] == ["rank 0", "rank 1", "rank 2", "rank 3"]
    assert steps.lines[0].steps[0] == 1  # the first one is like no other
    assert steps.lines[0].values[0] == pytest.approx(10.1)
    assert waiting.lines[0].values == pytest.approx([1.0, 1.02, 1.04, 1.01, 1.03] * 2)
    many = blocks(Made(20).slow(7, "forward", 0.01), Plot)[0]
    assert [line.name for line in many.lines] == ["least", "median", "most", "rank 7"]


def test_many_ranks_are_told_by_their_spread_and_by_those_that_stand_out():
    made = Made(40).slow(11, "forward", 0.03)
    made.series("loss", lambda _rank, _step: (math.nan,), ("loss",), ranks=[31])
    spread, far = blocks(made, Table)
    row = dict(zip(spread.columns, spread.rows[column(spread, "over all ranks").index("works, ms")], strict=True))
    assert (row["least"], row["most"], row["most: rank"]) == (pytest.approx(8), pytest.approx(38), "11")
    assert column(far, "rank") == ["31", "11"]
    assert column(far, "in") == ["loss", "works, waits: ranks"]
    whole = blocks(made, Fold)[-1]
    assert whole.title == "All 40 ranks"
    assert len(whole.blocks[0].rows) == 40


def test_of_many_ranks_one_that_was_lost_stands_out_by_its_end():
    made = Made(20)
    made.rank(3).status = Status.LOST
    far = blocks(made, Table)[-1]
    assert (column(far, "rank"), column(far, "in")) == (["3"], ["how it ended"])


def test_a_thousand_ranks_take_no_more_room_in_a_text_than_a_hundred():
    small, large = (as_text(ranks_page(Made(num, steps=6, detail=False).run)) for num in (100, 1024))
    assert len(large) < 1.1 * len(small) < 3000


def test_ranks_of_several_hosts_are_told_with_theirs():
    made = Made(2)
    made.change(type(made.rank(1).records[0]), 1, host="b")
    (table,) = blocks(made, Table)
    assert column(table, "host") == ["a", "b"]
    assert "2 ranks on 2 hosts" in blocks(made, Text)[0].text


def test_a_group_with_a_backend_for_each_device_is_told_by_their_names():
    made = Made(2)
    made.change(type(made.rank(0).records[0]), backend="cpu:gloo,cuda:nccl")
    assert "over gloo and nccl" in blocks(made, Text)[0].text
    made.change(type(made.rank(0).records[0]), backend="cpu:gloo,cuda:gloo")
    assert "over gloo, started" in blocks(made, Text)[0].text


def test_a_lost_rank_is_marked_with_what_all_ranks_did_last():
    made = Made(3)
    made.rank(1).status, made.rank(1).steps = Status.LOST, 9
    made.beat(0, status="error"), made.beat(1, "forward", inside=False), made.beat(2, "backward")
    last, table = blocks(made, Table)
    assert last.title == "What the ranks did last"
    assert last.rows[0][:2] == ["rank 1", "was last in forward at step 7, line 14: loss = F.mse_loss(model(x), y)"]
    assert last.marked == {0}
    assert column(table, "ended") == ["ok", "lost", "ok"]
    assert column(table, "steps") == [20, 9, 20]
    assert "ranks 0 and 2 ok, rank 1 lost" in blocks(made, Text)[0].text


def test_of_many_ranks_those_that_did_the_same_stand_together():
    made = Made(64)
    beats = tuple(made.beat(rank, inside=rank != 5, event="batch" if rank == 5 else "backward") for rank in range(64))
    made.rank(0).records.append(HangRecord(step=7, seconds=33.0, over=False, beats=beats))
    last = blocks(made, Table)[0]
    assert column(last, "who") == ["rank 5", "ranks 0 to 4 and 6 to 63"]
    assert last.marked == {0}


def test_healthy_ranks_are_not_asked_what_they_did_last():
    made = Made(2)
    made.beat(0, status="ok"), made.beat(1, status="ok")
    assert [table.title for table in blocks(made, Table)] == [""]


def test_ranks_that_left_nothing_are_told():
    run = Made(2).rank(0)
    run.join(Ranks({0: run}, world_size=4))
    assert "rank 0 ok, ranks 1 to 3 left nothing to read" in ranks_page(run).blocks[0].text


def test_findings_of_other_ranks_are_told_once_and_those_of_rank_0_not_again():
    made = Made(4)
    for rank in range(4):
        own = [finding("dead-relu", "net.1")] if rank else []
        made.rank(rank).findings = (finding("lr-zero", None), *own)
    (fold,) = blocks(made, Fold)
    assert fold.title == "Findings of other ranks (1)"
    (shown,) = fold.blocks
    assert isinstance(shown, Findings)
    assert [each.title for each in shown.findings] == ["ranks 1 to 3: dead-relu is so"]


def finding(rule, module):
    return Finding(rule=rule, severity=Severity.WARNING, confidence=0.9, title=f"{rule} is so", module=module)


def test_every_skin_draws_the_page():
    page = ranks_page(Made(20).slow(3, "data", 0.01).run)
    assert "Ranks that stand out" in as_text(page)
    assert "over all ranks" in as_html(page)
    assert "| over all ranks |" in as_markdown(page)


def test_ranks_that_measured_nothing_are_told_all_the_same():
    runs = {rank: Run() for rank in range(2)}
    runs[0].join(Ranks(runs, world_size=2))
    text = as_text(ranks_page(runs[0]))
    assert text.startswith("Ranks\n─────\n2 ranks: ranks 0 and 1 running. 0 steps each.")


def test_a_page_of_ranks_whose_times_are_the_phases_of_their_steps():
    made = Made(2)
    assert blocks(made, Plot)[0].lines[0].values[0] == pytest.approx(1e3 * sum(PHASES.values()) + 0.1)
