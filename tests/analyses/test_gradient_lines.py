"""This file tests what code does with gradients by hand: empty them, read them, scale them."""

import pytest

from torchmagic.analyses.gradient_lines import (
    hooks_gradients,
    lines_stepping,
    reads_gradients,
    reset_between,
    scales_gradients,
)

EMPTYING = [
    "p.grad = None",
    "p.grad = 0",
    "p.grad = torch.zeros_like(p)",
    "p.grad.zero_()",
    "p.grad.data.zero_()",
    "p.grad.fill_(0)",
    "p.grad *= 0",
    "p.grad.detach().zero_()",
]
OTHER = ["p.data = None", "p.zero_()", "x *= 0", "p.grad = q", "p.grad = 1.0", "p.grad *= 0.5", "q.grad += 0"]


def loop(line):
    return f"for p in ps:\n    loss.backward()\n    {line}\n    opt.step()\n"


@pytest.mark.parametrize("line", EMPTYING)
def test_every_way_of_emptying_by_hand_is_found(line):
    assert reset_between(loop(line), 2, 4) == 3
    assert not reads_gradients(f"{line}\n")


@pytest.mark.parametrize("line", OTHER)
def test_other_lines_empty_nothing(line):
    assert reset_between(loop(line), 2, 4) is None


def test_a_line_before_the_backward_or_behind_the_step_is_not_between_them():
    assert reset_between(loop("pass") + "p.grad = None\n", 2, 4) is None
    assert reset_between("p.grad = None\n" + loop("pass"), 3, 5) is None
    assert reset_between("p.grad = None\nloss.backward()\n", 2, 1) is None


def test_a_function_that_is_called_in_between_is_looked_into():
    clear = "def clear(ps):\n    for p in ps:\n        p.grad = None\n\n\n"
    assert reset_between(clear + "loss.backward()\nclear(ps)\nopt.step()\n", 6, 8) == 3
    assert reset_between(clear + "clear(ps)\nloss.backward()\nopt.step()\n", 7, 8) is None
    assert reset_between(clear + "loss.backward()\nother(ps)\nopt.step()\n", 6, 8) is None


@pytest.mark.parametrize("line", ["w -= 0.1 * w.grad", "norm = w.grad.norm()", "g = [p.grad for p in ps]"])
def test_values_of_gradients_are_read(line):
    assert reads_gradients(line)


@pytest.mark.parametrize(
    "line",
    [
        "p.grad /= 4",
        "p.grad.data *= 0.5",
        "p.grad = p.grad / 4",
        "p.grad.mul_(0.25)",
        "p.grad.data.clamp_(-1, 1)",
        "p.grad = torch.nan_to_num(p.grad)",
    ],
)
def test_changing_one_where_it_is_is_not_reading_it(line):
    assert not reads_gradients(line)


@pytest.mark.parametrize(
    "line",
    [
        "g = p.grad.mul_(0.25)",
        "p.grad = q.grad / 4",
        "q = p.grad / 4",
        "p.data -= p.grad",
        "p.grad.mul_(p.grad.norm())",
        "p.grad.norm()",
    ],
)
def test_handing_a_value_on_is(line):
    assert reads_gradients(line)


@pytest.mark.parametrize("line", ["if p.grad is not None: pass", "p.grad = g", "loss.backward()"])
def test_asking_for_one_or_giving_one_is_not_reading_it(line):
    assert not reads_gradients(line)


@pytest.mark.parametrize(
    "line", ["p.grad /= 4", "p.grad = p.grad / 4", "p.grad.mul_(0.25)", "torch._foreach_div_(gs, 4)"]
)
def test_scaling_by_hand_is_found_where_a_gradient_is_scaled(line):
    assert scales_gradients(line) is ("gs" not in line)


@pytest.mark.parametrize("line", ["p.grad += 4", "p.grad = p.grad + 4", "p.grad.add_(1)", "p /= 4", "p = p.grad / 4"])
def test_other_arithmetic_is_no_scaling(line):
    assert not scales_gradients(line)


@pytest.mark.parametrize(
    ("line", "heard"),
    [
        ("layer.register_full_backward_hook(keep)", True),
        ("p.register_post_accumulate_grad_hook(keep)", True),
        ("hidden.retain_grad()", True),
        ("layer.register_forward_hook(keep)", False),
        ("loss.backward(retain_graph=True)", False),
    ],
)
def test_who_asks_to_be_told_of_gradients_is_seen(line, heard):
    assert hooks_gradients(line) is heard


@pytest.mark.parametrize(
    "line",
    [
        "p -= lr * p.grad",
        "p.data -= lr * p.grad.data",
        "p.data = p.data - lr * p.grad",
        "w = w - lr * w.grad",
        "p.sub_(lr * p.grad / p.grad.norm())",
        "p.data.add_(p.grad, alpha=-lr)",
    ],
)
def test_a_line_that_moves_a_tensor_along_its_gradient_is_found(line):
    assert lines_stepping(loop(line)) == [3]


@pytest.mark.parametrize("line", ["p.grad /= n", "p.grad.mul_(s)", "g = p.grad", "total += n", "norms.append(p.grad)"])
def test_a_line_that_moves_nothing_along_a_gradient_is_not(line):
    assert lines_stepping(loop(line)) == []


def test_a_line_that_moves_a_tensor_by_what_was_made_of_its_gradient_is_found():
    line = "m.mul_(0.9).add_(p.grad, alpha=0.1)\n    p -= lr * m / v.sqrt()"
    assert lines_stepping(loop(line)) == [4]
