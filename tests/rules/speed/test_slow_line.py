"""This file tests the rule on lines without operators, on records written by hand."""

import pytest

from torchmagic.records.compilation import CompilationRecord
from torchmagic.rules.speed.slow_line import slow_line

LINE = "plot(losses)"


def test_the_line_is_told(profiled):
    (found,) = slow_line(profiled.line(LINE, own=0.2).written())
    assert (found.source, found.line) == (LINE, 1)
    assert (
        found.title == "a line without operators of torch takes 20 ms a step (20% of the time); saves up to all of that"
    )


@pytest.mark.parametrize(
    "costs",
    [{"own": 0.09}, {"own": 0.2, "operators": 0.06}, {"own": 0.2, "backward": 0.01}, {"own": 0.2, "reads": 1}],
    ids=str,
)
def test_a_cheap_line_and_one_that_computes_are_silent(profiled, costs):
    assert not list(slow_line(profiled.line(LINE, **costs).written()))


@pytest.mark.parametrize("facts", [{"calls": 2}, {"calls": 10, "seconds": 0.1}], ids=["twice", "milliseconds"])
def test_what_another_program_may_have_taken_is_silent(profiled, facts):
    seconds = facts.pop("seconds", 1.0)
    run = profiled.line(LINE, own=0.19 * seconds, **facts).within(seconds=seconds).written()
    assert not list(slow_line(run))


@pytest.mark.parametrize(
    "source", ["for x, y in train:", "with torch.no_grad():", "loss.backward()", "opt.step()", "x = next(batches)"]
)
def test_lines_that_hold_others_or_run_torchs_code_are_silent(profiled, source):
    assert not list(slow_line(profiled.line(source, own=0.5).written()))


def test_lines_of_datasets_are_left_to_slow_loading(profiled):
    profiled.line("x = augment(x)", function="__getitem__", own=0.01).line("time.sleep(1)", function="augment", own=0.5)
    assert not list(slow_line(profiled.written()))


def test_compiled_code_hides_its_operators(profiled):
    profiled.line(LINE, own=0.5).add(CompilationRecord(seconds=1.0, run_seconds=10.0, functions=()))
    assert not list(slow_line(profiled.written()))


def test_a_compiled_model_hides_its_operators(profiled):
    assert not list(slow_line(profiled.line(LINE, own=0.5).model(compiled=True).written()))


@pytest.mark.parametrize(("busy", "told"), [(0.8, 0), (0.3, 1)])
def test_what_the_host_does_while_an_accelerator_is_busy_delays_nothing(profiled, busy, told):
    run = profiled.line(LINE, own=0.5).within(device="cuda", busy=busy).written()
    assert len(list(slow_line(run))) == told


@pytest.mark.parametrize("source", ["while queue:", "async with session:", "opt.zero_grad()", "rows = yield batch", ""])
def test_other_lines_that_hold_others_or_have_no_text_are_silent(profiled, source):
    assert not list(slow_line(profiled.line(source, own=0.5).written()))


def test_three_lines_are_told_the_dearest_first(profiled):
    for number, own in enumerate((0.15, 0.13, 0.2, 0.17)):
        profiled.line(f"plot_{number}()", calls=3, own=own, operators=0.2 * own)
    assert [found.source for found in slow_line(profiled.written())] == ["plot_2()", "plot_3()", "plot_0()"]


@pytest.mark.parametrize(("seconds", "told"), [(0.021, 1), (0.019, 0)])
def test_from_twenty_milliseconds_on_a_line_is_slow_by_itself(profiled, seconds, told):
    assert len(list(slow_line(profiled.within(seconds=0.15).line(LINE, own=seconds).written()))) == told


def test_the_line_that_goes_through_a_loader_is_left_to_slow_loading(profiled):
    profiled.loader(0.5, place_source="batch = fetch(train)").line("batch = fetch(train)", own=0.5)
    assert not list(slow_line(profiled.written()))


@pytest.mark.parametrize(("operators", "told"), [(0.125, 1), (0.13, 0)])
def test_a_quarter_of_the_line_may_be_operators(profiled, operators, told):
    assert len(list(slow_line(profiled.line(LINE, own=0.5, operators=operators).written()))) == told


@pytest.mark.parametrize(("busy", "told"), [(0.7, 1), (0.71, 0)])
def test_an_accelerator_that_is_busy_for_most_of_the_time_hides_it(profiled, busy, told):
    assert len(list(slow_line(profiled.line(LINE, own=0.5).within(device="cuda", busy=busy).written()))) == told


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [({"min_share": 0.5}, 1), ({"min_share": 0.51}, 0), ({"min_seconds": 0.5}, 1), ({"min_seconds": 0.51}, 0)],
    ids=str,
)
def test_what_is_just_enough_is_told(profiled, thresholds, told):
    assert len(list(slow_line(profiled.line(LINE, own=0.5).written(), **thresholds))) == told
