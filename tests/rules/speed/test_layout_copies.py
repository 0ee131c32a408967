"""This file tests the rule on copies, on records written by hand."""

import pytest

from torchmagic.rules.speed.layout_copies import layout_copies


def copying(profiled, at, seconds, phase="forward"):
    profiled.operator("clone", 0.001, total=seconds, phase=phase)
    where = at("x = x.transpose(1, 2).contiguous()", "forward")
    return profiled.operator("copy_", seconds - 0.001, phase=phase, module="net.mix", place=where)


def test_copies_are_told_at_the_line_of_the_dearest(profiled, at):
    (found,) = layout_copies(copying(profiled, at, 0.2).written())
    told = "1 copy a step into another order in memory take 20 ms a step (20% of the time)"
    assert found.title == f"{told}; saves up to all of that"
    assert (found.source, found.module) == ("x = x.transpose(1, 2).contiguous()", "net.mix")


def test_cheap_ones_and_those_of_the_backward_are_silent(profiled, at):
    copying(profiled, at, 0.5, phase="backward")
    assert not list(layout_copies(copying(profiled, at, 0.079).written()))


def test_copies_of_another_kind_are_silent(profiled):
    assert not list(layout_copies(profiled.operator("copy_", 0.5).operator("_to_copy", 0.1, total=0.6).written()))


def test_without_a_backward_nothing_is_told(profiled, at):
    assert not list(layout_copies(copying(profiled.phase(backward=0.0), at, 0.5).written()))


@pytest.mark.parametrize("name", ["contiguous", "clone"])
def test_the_dearest_may_be_any_part_of_a_copy(profiled, at, name):
    profiled.operator("clone", 0.1, total=0.2, calls=25).operator(name, 0.3, total=0.3, place=at("z = z.mT.clone()"))
    (found,) = layout_copies(profiled.written())
    assert (found.source, found.module) == ("z = z.mT.clone()", None)
    assert found.title.partition(" copies")[0] in ("2", "4")


def test_copies_at_no_known_line_are_told_without_one(profiled):
    (found,) = layout_copies(profiled.operator("clone", 0.1, total=0.2, module="net.mix").written())
    assert (found.module, found.line, found.source) == (None, None, None)


def test_where_nothing_is_copied_nothing_is_told_at_any_threshold(profiled):
    assert not list(layout_copies(profiled.written(), min_share=0.0))
