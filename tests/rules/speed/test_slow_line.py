"""This file tests the rule on lines without operators, on records written by hand."""

import pytest

from torchmagic.records.compilation import CompilationRecord
from torchmagic.rules.speed.slow_line import slow_line

LINE = "plot(losses)"


def test_the_line_is_told(profiled):
    (found,) = slow_line(profiled.line(LINE, own=0.2).written())
    assert (found.source, found.line) == (LINE, 1)
    assert found.title == "a line without operators of torch takes 20 ms a step (20% of the time)"


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
