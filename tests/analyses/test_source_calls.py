"""This file tests what is read from calls, assignments in loops, and scales that are taken out by hand."""

import pytest

from torchmagic.analyses.scaling_by_hand import unscales_by_hand
from torchmagic.analyses.source_calls import adds_lists, calls_on, loop_assigns, scaler_in, steps_elsewhere
from torchmagic.analyses.source_lines import lines_giving


def test_a_call_is_about_what_it_is_called_on_and_given_first():
    source = "self.opt.step()\nscaler.step(opt, other)\nopts[0].step()\nstep()\nopt.zero_grad()\n"
    assert calls_on(source, "step") == [
        (1, frozenset({"opt"})),
        (2, frozenset({"scaler", "opt"})),
        (3, frozenset({"opts"})),
    ]


def test_only_what_the_loop_around_a_line_assigns_counts():
    source = "for x in xs:\n    total_loss = f(x)\n    opt.step()\nwhile True:\n    print(loss)\n    opt.step()\n"
    assert loop_assigns(source, 3, ("loss",))
    assert not loop_assigns(source, 6, ("loss",))
    assert not loop_assigns(source, 3, ("error",))
    assert not loop_assigns("loss = 1\nopt.step()\n", 2, ("loss",))


@pytest.mark.parametrize("line", ["p.grad /= scale", "p.grad = p.grad * inv_scale", "p.grad.mul_(1 / self.scale)"])
def test_a_scale_that_is_taken_out_by_hand_is_found(line):
    assert unscales_by_hand(line)


@pytest.mark.parametrize("line", ["p.grad /= 4", "x = x * scale", "def grad(scale): pass", "p.grad = None\nx = scale"])
def test_gradients_and_scales_that_do_not_meet_are_left_alone(line):
    assert not unscales_by_hand(line)


def test_lines_that_give_a_variable_a_value_are_found_by_its_last_name():
    assert lines_giving("a = 1\nself.model = 2\nother = 3\nmodel = 4\nmodel.x = 5\n", "self.model") == [2, 4]


def test_a_scaler_has_the_name_that_code_gives_it():
    assert scaler_in("self.grad_scaler.scale(loss).backward()") == "self.grad_scaler"
    assert scaler_in("loss.backward()") == "scaler"


LEVELS = """
def one_pass():
    for x in xs:
        loss(x).backward()
        sched.step()

for epoch in range(4):
    one_pass()
    sched.step()
"""


def test_a_step_outside_of_the_loop_that_trains_is_found_beside_the_one_in_it():
    assert steps_elsewhere(LEVELS, "self.sched", 5) == [9]
    nested = "for e in es:\n  for x in xs:\n    x.backward()\n    sched.step()\n  sched.step()\n"
    assert steps_elsewhere(nested, "sched", 4) == [5]


def test_the_step_of_another_training_is_none_of_these():
    two = "for x in xs:\n  x.backward()\n  sched.step()\n" * 2
    assert steps_elsewhere(two, "sched", 3) == []
    assert steps_elsewhere("for x in xs:\n  sched.step()\nopt.step()\n", "sched", 2) == []


def test_lists_that_are_added_to_a_list_are_seen():
    assert adds_lists("self.pairs.append([layer, act])", "pairs")
    assert adds_lists("self.pairs.append((layer, act))", "pairs")
    assert not adds_lists("self.pairs.append(layer)\nself.other.append([1])", "pairs")
