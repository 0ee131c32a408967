"""This file tests the pages of a profile against texts that a person has read, and what they say of odd profiles."""

import doctest
from dataclasses import replace

import pytest
from golden_files import assert_golden
from profile_runs import CELL, GPT_FILE, allocations, cnn_run, gpt_run, mlp_run, place

from torchmagic.analyses.profile_window import PHASES
from torchmagic.records.costs import AllocationsRecord, CostsRecord, LineCost, LoaderCost, ModuleCost
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
from torchmagic.records.speed import VerifiedRecord
from torchmagic.session.run import Run
from torchmagic.views import profile_words
from torchmagic.views.page import Bars, Flame, Plot, Shares, Source, Table, Text
from torchmagic.views.profile_comparison import profile_comparison_page
from torchmagic.views.profile_lines import profile_lines_page
from torchmagic.views.profile_loaders import profile_loaders_page
from torchmagic.views.profile_memory import profile_memory_page
from torchmagic.views.profile_modules import profile_modules_page
from torchmagic.views.profile_operators import profile_operators_page
from torchmagic.views.profile_page import profile_page
from torchmagic.views.profile_pages import PROFILE_PAGES, profile_pages
from torchmagic.views.profile_steps import profile_steps_page
from torchmagic.views.profile_words import short_name
from torchmagic.views.skins.text import as_text


def changed(run, kind, **facts):
    """Replace the record of one type by one with other facts."""
    index, record = next((i, each) for i, each in enumerate(run.records) if isinstance(each, kind))
    run.records[index] = replace(record, **facts)
    return run


def one(page, kind):
    return next(block for block in page.blocks if isinstance(block, kind))


def strong(page):
    return next(block.text for block in page.blocks if isinstance(block, Text) and block.strong)


def facts(page):
    return dict(next(block.rows for block in page.blocks if type(block).__name__ == "Facts"))


@pytest.mark.parametrize(
    ("name", "make"), [("profile_mlp", mlp_run), ("profile_gpt", lambda: gpt_run(dear=5)), ("profile_cnn", cnn_run)]
)
def test_the_pages_of_a_profile_read_well(name, make):
    assert_golden(profile_pages(make()), name)


def test_a_comparison_reads_well():
    assert_golden(profile_comparison_page(gpt_run(block=7.5), gpt_run(name="baseline")), "profile_comparison")


def test_a_run_without_a_profile_has_no_such_pages():
    assert profile_pages(Run()) == []
    assert profile_comparison_page(mlp_run(), Run()).blocks == []
    assert profile_comparison_page(Run(), mlp_run()).blocks == []


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_of_text_is_wider_than_the_terminal(width):
    runs = [mlp_run(), gpt_run(dear=5), cnn_run()]
    pages = [page for run in runs for page in profile_pages(run)]
    pages.append(profile_comparison_page(gpt_run(block=7.5), gpt_run(name="baseline")))
    assert [each for each in as_text(pages, width=width).splitlines() if len(each) > width] == []


def test_the_headline_says_what_takes_most_and_how_long_operators_run():
    assert strong(profile_page(mlp_run())) == (
        "79% of a step of 35.3 ms is waiting for data; operators run in 31% of it."
    )
    on_device = changed(mlp_run(), ProfileRecord, device="cuda")
    assert "kernels run in 31%" in strong(profile_page(on_device))
    known = {"first_step": 0, "steps": 0, "waited": 0, "warmed": 0, "seconds": 2.0, "busy": 0.5, "processor": 2.0}
    bare = Run()
    bare.records.append(ProfileRecord(events=7, **known))
    assert strong(profile_page(bare)) == "Operators run in 25% of 2 s."


@pytest.mark.parametrize(
    ("cut", "words"), [("error", "failed"), ("interrupted", "interrupted"), ("full", "ended early"), ("ended", "ended")]
)
def test_a_window_that_was_cut_says_why(cut, words):
    texts = [block.text for block in profile_page(cnn_run(cut=cut)).blocks if isinstance(block, Text)]
    assert any(words in text for text in texts)


def test_shares_of_the_summary_are_a_mean_step():
    shares = one(profile_page(mlp_run()), Shares)
    assert sum(amount for _, amount in shares.parts) == pytest.approx(0.0353, rel=0.01)
    assert "copies to the device" not in dict(shares.parts)


def test_facts_say_speed_peak_and_what_was_left_out():
    found = facts(profile_page(gpt_run()))
    assert found["operations"].startswith("8.7 GFLOP per step")
    assert "of the 120 GFLOP/s" in found["operations"]
    assert found["not counted of them"] == "aten::_scaled_dot_product_flash_attention_for_cpu"
    assert found["profiled"].endswith("2 of warm-up before, left out")
    assert "samples/s" not in found["throughput"]
    assert facts(profile_page(mlp_run()))["throughput"].startswith("1810 samples/s")
    unknown = facts(profile_page(changed(gpt_run(), ProfileRecord, flops=None, peak_bytes=None)))
    assert not {"operations", "peak memory"} & set(unknown)


def test_alike_modules_stand_in_one_row_that_is_their_sum():
    table = one(profile_modules_page(gpt_run(layers=12)), Table)
    (row,) = [row for row in table.rows if "12 × Block" in str(row[0])]
    assert row[1] == pytest.approx(12 * 18)
    assert row[table.columns.index("calls")] == 12
    top = [row for row in table.rows if str(row[0]).startswith(("├─", "└─", "model"))]
    own = top[0][table.columns.index("own forward")] + top[0][table.columns.index("own backward")]
    assert sum(row[1] for row in top[1:]) + own == pytest.approx(top[0][1], rel=0.01)


def test_operations_and_memory_of_alike_modules_are_summed():
    run = gpt_run(layers=4)
    modules = tuple(
        replace(each, flops=20 * 10**7 if each.class_name == "Block" else None)
        for each in run.of(CostsRecord)[0].modules
    )
    table = one(profile_modules_page(changed(run, CostsRecord, modules=modules)), Table)
    (row,) = [row for row in table.rows if "4 × Block" in str(row[0])]
    found = dict(zip(table.columns, row, strict=True))
    assert (found["MFLOP"], found["allocated MiB"], found["kept MiB"]) == (40, 96, 72)


def test_a_module_much_dearer_than_its_likes_is_not_folded_away():
    table = one(profile_modules_page(gpt_run(dear=5)), Table)
    assert [str(table.rows[i][0]) for i in table.marked] == ["├─\u00a0h.5: Block"]
    assert one(profile_modules_page(gpt_run()), Table).marked == frozenset()


def test_modules_that_were_called_without_their_model_have_a_root_that_is_their_sum():
    page = profile_modules_page(cnn_run())
    assert one(page, Table).rows[0][:2] == ["net: called in parts", 1050]
    assert [box.name for box in one(page, Flame).boxes[0].parts] == ["features.0", "features.1", "classifier"]


def test_modules_that_never_ran_are_left_out():
    run = mlp_run()
    costs = run.of(CostsRecord)[0]
    never = ModuleCost(model="net", path="unused", class_name="Linear", calls=0, forward=0.0, forward_own=0.0)
    page = profile_modules_page(changed(run, CostsRecord, modules=(*costs.modules, never)))
    assert not any("unused" in str(row[0]) for row in one(page, Table).rows)


def test_several_models_stand_below_each_other():
    run = mlp_run()
    second = [replace(each, model="critic") for each in run.of(CostsRecord)[0].modules]
    page = profile_modules_page(changed(run, CostsRecord, modules=(*run.of(CostsRecord)[0].modules, *second)))
    assert [str(row[0]) for row in one(page, Table).rows][::4] == ["net: Sequential", "critic: Sequential"]
    assert [box.name for box in one(page, Flame).boxes] == ["net", "critic"]


def test_lines_show_the_dearest_file_first_and_only_its_regions():
    sources = [block for block in profile_lines_page(gpt_run()).blocks if isinstance(block, Source)]
    assert [source.title for source in sources] == ["model.py, ms per step", "this cell, ms per step"]
    numbers = [line.number for line in sources[0].lines]
    assert numbers == [None, 131, 132, 133, 134]
    assert sources[0].lines[0].text == "130 lines"
    assert max(line.heat for line in sources[0].lines) == 1.0


def test_a_line_timed_in_part_is_a_lower_bound():
    page = profile_lines_page(gpt_run())
    _, cell = [block for block in page.blocks if isinstance(block, Source)]
    cells = [line.cells[0] for line in cell.lines if line.cells]
    assert "≥ 0.001" in cells
    assert "only its first runs were timed" in page.blocks[-1].text


def test_lines_whose_file_cannot_be_read_are_told_by_their_places():
    run = changed(gpt_run(), SourcesRecord, texts={})
    _, source = [block for block in profile_lines_page(run).blocks if isinstance(block, Source)]
    assert [line.number for line in source.lines] == [5, 6, 7, 8, 9, 10, 11, 12]
    assert source.lines[3].text == "loss.backward()"


def test_a_file_that_changed_since_is_shown_as_far_as_it_goes():
    run = changed(mlp_run(), SourcesRecord, texts={CELL: "x = 1"})
    assert [line.number for line in one(profile_lines_page(run), Source).lines] == list(range(1, 12))


def test_lines_are_counted_as_python_counts_them():
    run = changed(mlp_run(), SourcesRecord, texts={CELL: "a\x0cb\u2028c\r\nd\re\n"})
    assert [line.text for line in one(profile_lines_page(run), Source).lines][:3] == ["a\x0cb\u2028c", "d", "e"]


def test_a_file_that_costs_next_to_nothing_is_only_summed_up():
    run = mlp_run()
    cheap = LineCost(place=place("x", 1, file="long.py"), calls=1, total=1e-6, own=1e-6)
    changed(run, CostsRecord, lines=(*run.of(CostsRecord)[0].lines, cheap))
    page = profile_lines_page(changed(run, SourcesRecord, texts={CELL: "y", "long.py": "x\n" * 500}))
    assert len([block for block in page.blocks if isinstance(block, Source)]) == 1
    assert any(isinstance(block, Text) and block.text.startswith("1 more file: ") for block in page.blocks)


def test_columns_without_a_value_are_left_out():
    assert "reads" in one(profile_lines_page(mlp_run()), Source).columns
    costs = mlp_run().of(CostsRecord)[0]
    lines = tuple(replace(line, reads=0, backward=0.0) for line in costs.lines)
    page = profile_lines_page(changed(mlp_run(), CostsRecord, lines=lines))
    assert not {"reads", "backward"} & set(one(page, Source).columns)
    assert "Reads" not in page.blocks[-1].text


def test_many_files_are_summed_up():
    lines = tuple(LineCost(place=place("x", 1, file=f"f{i}.py"), calls=1, total=1.0, own=1.0) for i in range(20))
    page = profile_lines_page(changed(mlp_run(), CostsRecord, lines=lines))
    assert len([block for block in page.blocks if isinstance(block, Source)]) == 8
    assert any(isinstance(block, Text) and block.text.startswith("12 more files") for block in page.blocks)


@pytest.mark.parametrize(("sort", "field"), [("own", "own"), ("total", "total"), ("calls", "calls"), ("odd", "own")])
def test_operators_are_sorted_as_asked(sort, field):
    run = gpt_run()
    run.settings["sort_by"] = sort
    known = {short_name(each.name): getattr(each, field) for each in run.of(CostsRecord)[0].operators}
    shown = [known[row[0]] for row in one(profile_operators_page(run), Table).rows]
    assert shown == sorted(known.values(), reverse=True)[: len(shown)]


def test_so_many_operators_are_shown_as_asked_and_the_rest_is_summed_up():
    run = gpt_run()
    run.settings.update(sort_by="total", top=3)
    page = profile_operators_page(run)
    assert len(one(page, Table).rows) == 3
    assert page.blocks[-1].text.startswith("46 more operators take ")
    run.settings["top"] = 0
    assert len(one(profile_operators_page(run), Table).rows) == 40


def test_the_peak_of_memory_is_explained_and_marked():
    page = profile_memory_page(gpt_run())
    assert strong(page) == (
        "The peak of 913 MiB is in the backward pass of step 4 in model.lm_head, at this cell:8: loss.backward()"
    )
    plot = one(page, Plot)
    assert plot.stacked
    assert [word for _, word in plot.marks] == ["peak"]
    assert plot.marks[0][0] == pytest.approx(300)
    assert len({tuple(each.steps) for each in plot.lines}) == 1


def test_a_peak_of_which_nothing_is_known_is_told_by_its_time():
    record = replace(allocations(None), phase="", module="")
    bare = Run()
    known = {"first_step": 0, "steps": 0, "waited": 0, "warmed": 0, "seconds": 2.0, "busy": 0.5, "processor": 2.0}
    bare.records += [ProfileRecord(events=7, **known), record]
    assert strong(profile_memory_page(bare)) == "The peak of 913 MiB is 300 ms after the beginning"
    empty = AllocationsRecord(seconds=(), phases={}, peak=0.0, step=0, phase="", module="", place=None)
    bare.records[1] = empty
    assert profile_memory_page(bare).blocks == []


def test_slow_steps_are_marked_and_listed_with_their_phase():
    page = profile_steps_page(mlp_run(slow=((9, "data", 60.0), (15, "other", 90.0))))
    assert one(page, Plot).marks == [(9.0, "waiting for data"), (15.0, "other code")]
    tables = [block for block in page.blocks if isinstance(block, Table)]
    assert [row[0] for row in tables[1].rows] == ["step 15", "step 9"]
    assert "2 steps were much slower" in strong(page)
    assert profile_steps_page(cnn_run()).blocks == []


def test_a_single_step_has_no_plot():
    page = profile_steps_page(mlp_run(steps=1, slow=()))
    assert strong(page) == "One step was profiled; it took 31.8 ms."
    assert not any(isinstance(block, Plot) for block in page.blocks)


def test_a_loader_of_which_only_the_longest_waits_are_known_has_no_histogram():
    waits = LoaderCost(loader="loader", workers=2, batches=1000, waits=(0.5,) * 200, total=110.0, busy=0.84)
    page = profile_loaders_page(changed(mlp_run(), CostsRecord, loaders=(waits,)))
    table = one(page, Table)
    assert table.rows[0][2:4] == [110, 500]
    assert not any(isinstance(block, Bars) for block in page.blocks)
    assert "2 workers load, which computed in 84% of it" in strong(page)


def test_a_histogram_of_waits_has_round_edges_and_all_waits():
    bars = one(profile_loaders_page(mlp_run()), Bars)
    assert sum(bars.counts) == 20
    assert bars.edges[:3] == [0, 10, 20]


def test_no_difference_is_called_chance():
    page = profile_comparison_page(gpt_run(), gpt_run(name="baseline"))
    assert "no more than chance" in strong(page)
    assert not one(page, Table).marked


def test_runs_on_unlike_machines_are_said_to_be_unlike():
    page = profile_comparison_page(changed(mlp_run(), ProfileRecord, threads=1), changed(gpt_run(), ProfileRecord))
    texts = " ".join(block.text for block in page.blocks if isinstance(block, Text))
    assert "cpu with 2 threads" in texts
    assert "cpu with 1 thread." in texts
    assert "was profiled with memory and flops beyond time" in texts


@pytest.mark.parametrize("draw", PROFILE_PAGES, ids=lambda draw: draw.__name__)
def test_records_with_nothing_in_them_break_no_page(draw):
    run = Run()
    empty = dict.fromkeys(PHASES, ())
    run.records += [
        ProfileRecord(first_step=0, steps=3, waited=0, warmed=0, seconds=0.0, busy=0.0, processor=0.0, events=0),
        PhasesRecord(steps=(), **empty),
        CostsRecord(
            modules=(ModuleCost(model="", path="", class_name="", calls=0, forward=0.0, forward_own=0.0),),
            lines=(LineCost(place=place("x", 1), calls=0, total=0.0, own=0.0),),
            loaders=(LoaderCost(loader="", workers=0, batches=0, waits=(), total=0.0),),
        ),
        SourcesRecord(texts={GPT_FILE: ""}),
        AllocationsRecord(
            seconds=(0.0,), phases={"forward": (0,)}, peak=0.0, step=0, phase="", module="", place=None
        ),
    ]  # fmt: skip
    assert as_text(draw(run)) is not None


def test_the_examples_of_how_a_profile_is_written_hold():
    assert doctest.testmod(profile_words).failed == 0


def test_holders_that_are_alike_but_for_a_number_are_one():
    holders = (("backward of net.0.a", 4), ("backward of net.1.a", 4), ("backward of net.1.b", 5), ("forward of x2", 6))
    run = changed(gpt_run(), AllocationsRecord, holders=holders)
    table = one(profile_memory_page(run), Table)
    assert [row[:2] for row in table.rows] == [
        ("backward of net.*.a", 8), ("forward of x2", 6), ("backward of net.1.b", 5),
    ]  # fmt: skip


def test_modules_named_by_a_number_show_their_class():
    (net,) = one(profile_modules_page(mlp_run()), Flame).boxes
    assert [box.name for box in net.parts] == ["0: Linear", "1: ReLU", "2: Linear"]


def test_cures_that_were_tried_are_told_also_where_they_gained_nothing():
    run = mlp_run()
    facts_before = facts(profile_page(run))
    assert "tried on copies" not in facts_before
    for cure, subject, after in (("compile", "net", 0.05), ("fused", "opt", 0.125), ("bfloat16", "net", 0.0)):
        run.records.append(
            VerifiedRecord(cure=cure, subject=subject, what="step", trials=9, before=0.1, after=after, spread=0.0)
        )
    assert facts(profile_page(run))["tried on copies"] == ("compile of net 2.00x as fast; fused of opt 0.80x as fast")
