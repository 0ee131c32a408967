"""This file tests the rule on loops in Python, on records written by hand."""

import pytest

from torchmagic.rules.speed.python_loop import python_loop

LINE = "h = self.cell(x[t], h)"


def loop(profiled, *, calls=500, own=0.2, operators=0.08, backward=0.1):
    return profiled.line(LINE, calls=calls, own=own, operators=operators, backward=backward, function="forward")


def test_a_loop_is_told_at_its_line_with_turns_and_cost(profiled, at):
    where = at(LINE, "forward", line=1)
    profiled.operator("addmm", 0.05, module="net.rnn", place=where)
    (found,) = python_loop(loop(profiled).written())
    assert (found.source, found.module) == (LINE, "net.rnn")
    assert found.title == (
        "a loop of 50 turns a step takes 30 ms a step (30% of the time); "
        "saves up to 12 ms a step (12% of the time) in Python alone"
    )
    assert found.evidence["of the time, Python's own"] == "12%"


def test_layers_one_after_the_other_are_no_such_loop(profiled):
    assert not list(python_loop(loop(profiled, calls=310).written()))


def test_gradient_accumulation_is_no_such_loop(profiled):
    profiled.line("loss.backward()", calls=500)
    assert not list(python_loop(loop(profiled).written()))


def test_large_operators_are_worth_a_turn_each(profiled):
    assert not list(python_loop(loop(profiled, own=0.3, operators=0.2, calls=500).written()))


def test_lines_from_which_nothing_is_learned_are_left_to_other_rules(profiled):
    assert not list(python_loop(loop(profiled, backward=0.0).written()))


def test_python_that_takes_next_to_nothing_is_silent(profiled):
    assert not list(python_loop(loop(profiled, own=0.11, operators=0.09).written()))


def test_a_cheap_loop_is_silent(profiled):
    assert not list(python_loop(loop(profiled, own=0.06, operators=0.02, backward=0.03).written()))


def rows(profiled, *, calls=640, forward=0.1, backward=0.1, path="seen"):
    profiled.module("", calls=10, forward=0.5, backward=0.3)
    return profiled.module(path, calls=calls, forward=forward, backward=backward)


def test_a_module_that_is_called_for_each_row_is_told_where_its_operators_were_called(profiled, at):
    where = at("torch.stack([self.seen(row) for row in x])", "forward", line=1)
    profiled.operator("addmm", 0.05, module="net.seen.0", place=where)
    (found,) = python_loop(rows(profiled).written())
    assert (found.module, found.source) == ("net.seen", where.source)
    assert found.title == "net.seen is called 64 times a step and takes 20 ms a step (20% of the time)"


def test_a_module_that_the_layer_around_it_calls_once_is_told_with_that_one_alone(profiled):
    (found,) = python_loop(rows(rows(profiled), path="seen.0").written())
    assert found.module == "net.seen"


def test_a_model_that_is_called_often_by_the_loop_itself_is_silent(profiled):
    assert not list(python_loop(profiled.module("", calls=640, forward=0.1, backward=0.1).written()))


def test_a_layer_that_is_shared_by_a_few_places_is_silent(profiled):
    assert not list(python_loop(rows(profiled, calls=40).written()))


def test_long_calls_are_worth_a_turn_each(profiled):
    assert not list(python_loop(rows(profiled, calls=330, forward=0.3, backward=0.1).written()))


def test_calls_that_are_not_learned_from_are_silent(profiled):
    assert not list(python_loop(rows(profiled, backward=0.0).written()))


def test_the_dearest_of_several_loops_and_its_dearest_line_are_told(profiled):
    profiled.line("h = f(h)", calls=500, own=0.1, operators=0.03, backward=0.02, function="f")
    profiled.line("h = a(h)", calls=500, own=0.1, operators=0.03, backward=0.05, function="g")
    profiled.line("h = b(h)", calls=500, own=0.05, operators=0.01, backward=0.12, function="g")
    profiled.line("log(h)", calls=500, own=0.3, function="g")
    (found,) = python_loop(profiled.written())
    assert found.source == "h = b(h)"
    assert found.evidence["seconds in the profile"] == 0.62


def test_the_largest_operators_of_a_loop_decide(profiled):
    profiled.line("h = a(h)", calls=500, own=0.2, operators=0.15, backward=0.05, function="g")
    profiled.line("h = b(h)", calls=500, own=0.2, operators=0.01, backward=0.05, function="g")
    assert not list(python_loop(profiled.written()))


def test_the_most_frequent_backward_decides(profiled):
    profiled.line("loss.backward()", calls=500).line("aux.backward()", calls=10)
    assert not list(python_loop(loop(profiled).written()))


def test_the_dearest_module_is_told_at_the_dearest_of_its_placed_operators(profiled, at):
    where, other = at("self.seen(row)", line=2), at("self.other(row)", line=3)
    profiled.operator("mm", 0.3, module="net.seen").operator("mm", 0.2, module="net.seen2", place=other)
    profiled.operator("mm", 0.1, module="net.seen", place=where).operator("add", 0.01, module="net.seen", place=other)
    (found,) = python_loop(rows(rows(profiled, forward=0.07, backward=0.07, path="less")).written())
    assert (found.module, found.source, found.confidence) == ("net.seen", "self.seen(row)", 0.6)
    assert found.evidence["calls a step"] == 64
    assert found.evidence["seconds a call"] == pytest.approx(0.2 / 640, abs=1e-6)


def test_a_layer_in_a_model_that_is_called_often_itself_is_silent(profiled):
    profiled.module("", calls=640, forward=0.1, backward=0.1).module("0", calls=640, forward=0.1, backward=0.1)
    assert not list(python_loop(profiled.written()))


def test_a_cheap_module_is_silent(profiled):
    assert not list(python_loop(rows(profiled, forward=0.05, backward=0.04).written()))


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"calls": 320, "operators": 0.05}, 1),
        ({"calls": 319, "operators": 0.05}, 0),
        ({"operators": 0.099}, 1),
        ({"operators": 0.101}, 0),
    ],
    ids=str,
)
def test_thirty_two_turns_of_small_operators_are_a_loop(profiled, facts, told):
    assert len(list(python_loop(loop(profiled, **{"own": 0.15} | facts).written()))) == told


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [({"min_share": 0.5}, 1), ({"min_share": 0.51}, 0), ({"small": 0.125}, 0), ({"small": 0.126}, 1)],
    ids=str,
)
def test_what_is_just_enough_is_a_loop(profiled, thresholds, told):
    run = loop(profiled.within(steps=1), own=0.25, operators=0.125, backward=0.25, calls=1).written()
    assert len(list(python_loop(run, **{"min_turns": 1, "small": 1.0} | thresholds))) == told


def test_python_of_just_three_percent_is_told(profiled):
    assert list(python_loop(loop(profiled, own=0.03, operators=0.0, backward=0.1).written()))


@pytest.mark.parametrize(
    ("facts", "told"),
    [({"calls": 320}, 1), ({"calls": 319}, 0), ({"calls": 320, "forward": 0.21, "backward": 0.12}, 0)],
    ids=str,
)
def test_thirty_two_short_calls_in_one_of_the_module_around_are_a_loop(profiled, facts, told):
    assert len(list(python_loop(rows(profiled, **facts).written()))) == told


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [({"min_share": 0.25}, 1), ({"min_share": 0.26}, 0), ({"small_call": 2**-11}, 0), ({"small_call": 2**-10}, 1)],
    ids=str,
)
def test_a_module_that_takes_just_enough_is_told(profiled, thresholds, told):
    run = rows(profiled, calls=512, forward=0.125, backward=0.125).written()
    assert len(list(python_loop(run, **thresholds))) == told


def test_a_module_in_a_list_of_modules_is_called_by_the_one_around_the_list(profiled):
    profiled.module("heads", calls=0, forward=0.0)
    (found,) = python_loop(rows(profiled, path="heads.1").written())
    assert found.module == "net.heads.1"
    assert found.fix == "one call for all rows, where no call needs what another gave: heads[1](batch)"


def test_a_part_of_a_layer_that_is_called_as_often_is_told_with_that_layer(profiled):
    (found,) = python_loop(rows(rows(profiled, path="a.seen"), path="a.seen.0.w", forward=0.12).written())
    assert found.module == "net.a.seen"


def test_what_is_told_of_a_module(profiled):
    (found,) = python_loop(rows(profiled).written())
    assert (found.rule, found.line, found.source) == ("python-loop", None, None)
    assert found.evidence == {
        "seconds in the profile": 0.2,
        "seconds a step": 0.02,
        "share of the time": "20.0%",
        "threshold": "10% of the time",
        "calls a step": 64,
        "seconds a call": 0.000313,
    }
    assert found.why.startswith("Each call does little, and its start")
    assert found.fix == "one call for all rows, where no call needs what another gave: seen(batch)"
