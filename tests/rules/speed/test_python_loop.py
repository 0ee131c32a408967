"""This file tests the rule on loops in Python, on records written by hand."""

from torchmagic.rules.speed.python_loop import python_loop

LINE = "h = self.cell(x[t], h)"


def loop(profiled, *, calls=500, own=0.2, operators=0.08, backward=0.1):
    return profiled.line(LINE, calls=calls, own=own, operators=operators, backward=backward, function="forward")


def test_a_loop_is_told_at_its_line_with_turns_and_cost(profiled, at):
    where = at(LINE, "forward", line=1)
    profiled.operator("addmm", 0.05, module="net.rnn", place=where)
    (found,) = python_loop(loop(profiled).written())
    assert (found.source, found.module) == (LINE, "net.rnn")
    assert found.title == "a loop of 50 turns a step takes 30 ms a step (30% of the time)"
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
