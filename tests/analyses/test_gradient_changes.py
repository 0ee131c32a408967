"""This file tests which line is taken for the one that changed gradients after the backward."""

import pytest

from torchmagic.analyses.gradient_changes import changed_between

CHANGING = [
    "p.grad /= n",
    "p.grad = p.grad / n",
    "p.grad[0] = q",
    "p.grad.data.mul_(c)",
    "p.grad.nan_to_num_()",
    "torch._foreach_div_([p.grad for p in ps], n)",
    "torch.nn.utils.clip_grad_norm_(ps, 1.0)",
]
KEEPING = [
    "p.grad = None",
    "p.grad.zero_()",
    "n = p.grad.norm()",
    "g = p.grad / n",
    "x.div_(p.grad)",
    "x /= n",
    "p.grad.requires_grad_()",
    "p.grad.__len__()",
]


def loop(*lines):
    return "".join(f"    {line}\n" for line in ("for p in ps:", "loss.backward()", *lines, "opt.step()"))[4:]


@pytest.mark.parametrize("line", CHANGING)
def test_every_way_of_changing_by_hand_is_found(line):
    assert changed_between(loop(line), 2, 4) == 3


@pytest.mark.parametrize("line", KEEPING)
def test_other_lines_change_nothing(line):
    assert changed_between(loop(line), 2, 4) is None


@pytest.mark.parametrize(
    ("named", "changed"),
    [
        ("g = p.grad", "g /= n"),
        ("gs = [p.grad for p in ps]", "torch._foreach_mul_(gs, n)"),
        ("gs = p.grad, q.grad", "for g in gs: g.sub_(n)"),
        ("gs = [p.grad for p in ps]", "for p, g in zip(ps, gs): g.mul_(n)"),
    ],
)
def test_names_of_gradients_stand_for_them(named, changed):
    assert changed_between(loop(named, changed), 2, 5) == 4
    assert changed_between(loop(named.replace("grad", "data"), changed), 2, 5) is None


def test_of_several_lines_it_is_the_one_that_divides_and_last_the_one_that_clips():
    clip, less, divided = "clip_grad_norm_(ps, 1.0)", "p.grad -= m", "p.grad.div_(n)"
    assert changed_between(loop(clip, less, divided), 2, 6) == 5
    assert changed_between(loop(clip, less, "pass"), 2, 6) == 4
    assert changed_between(loop(clip, "pass", "pass"), 2, 6) == 3


def test_a_line_before_the_backward_is_not_between_and_one_in_a_called_function_is():
    made = "def even(ps):\n    for p in ps: p.grad /= n\n\n"
    assert changed_between("p.grad /= n\nloss.backward()\nopt.step()\n", 2, 3) is None
    assert changed_between(made + "loss.backward()\neven(ps)\nopt.step()\n", 4, 6) == 2
    assert changed_between(made + "even(ps)\nloss.backward()\nopt.step()\n", 5, 6) is None
