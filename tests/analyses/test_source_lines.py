"""This file tests the search for lines in the source of a cell."""

import textwrap

import pytest

from torchmagic.analyses.source_lines import (
    line_at,
    lines_assigning,
    lines_calling,
    lines_computing_rates,
    lines_freezing,
    lines_of_hinges,
    lines_writing,
)

SOURCE = """\
%matplotlib inline
x = net(data)
loss = (x.log() / x.sum()).mean()
!ls
loss2 = torch.log(x)
net.fc = nn.Linear(4, 2)
table["fc"] = 3
fc = 5
"""


def test_calls_of_functions_and_methods_are_found():
    assert lines_calling(SOURCE, ("log",)) == [3, 5]


def test_operators_are_found_by_their_sign():
    assert lines_calling(SOURCE, ("div", "/")) == [3]
    assert lines_calling("y = x ** 0.5\nz = x / 2", ("pow", "**")) == [1]


def test_a_name_that_is_called_nowhere_has_no_lines():
    assert lines_calling(SOURCE, ("sqrt",)) == []
    assert lines_calling(SOURCE, ()) == []


def test_a_call_inside_a_function_is_found():
    assert lines_calling("def f(x):\n    if x:\n        return x.sqrt()\n", ("sqrt",)) == [3]


def test_a_word_in_a_string_or_comment_is_no_call():
    assert lines_calling('text = "log(x)"  # log(x)\n', ("log",)) == []


def test_attributes_and_items_that_are_assigned_are_found_but_not_names():
    assert lines_assigning(SOURCE, "fc") == [6, 7]


def test_the_last_layer_of_a_sequential_is_an_item():
    assert lines_assigning("net[4] = nn.Linear(4, 2)", "4") == [1]


def test_the_attribute_that_a_class_makes_is_not_an_assignment_from_outside():
    assert lines_assigning("self.fc = nn.Linear(4, 2)", "fc") == []
    assert lines_assigning("self.model.fc = nn.Linear(4, 2)", "fc") == [1]


@pytest.mark.parametrize("noise", ["# what is this?", "x = (3\n     % 2)", 'y = """\n!important\n"""'])
def test_plain_python_is_read_as_it_is(noise):
    assert lines_calling(f"f(1)\n{noise}\n@g(2)\n# why?\ndef h(): ...\n", ("g",)) == [3 + noise.count("\n")]


@pytest.mark.parametrize("magic", ["%time f(1)", "!ls -l", "?f", "f?"])
def test_lines_that_only_ipython_reads_keep_their_number(magic):
    assert lines_calling(f"a = 1\n{magic}\nb = g(2)\n", ("g",)) == [3]


def test_a_source_that_is_no_python_has_no_lines():
    assert lines_calling("for for for", ("log",)) == []
    assert lines_assigning("", "fc") == []


def test_a_line_is_asked_for_by_its_number():
    assert line_at("a\n   b = 1  \n", 2) == "b = 1"
    assert line_at("a", 0) == line_at("a", 2) == ""


@pytest.mark.parametrize(
    ("line", "freezes"),
    [
        ("net.requires_grad_(False)", True),
        ("p.requires_grad_(name in chosen)", True),
        ("p.requires_grad_(requires_grad=False)", True),
        ("p.requires_grad = name.startswith('head')", True),
        ("net.requires_grad_(True)", False),
        ("net.requires_grad_()", False),
        ("p.requires_grad = True", False),
        ("print(p.requires_grad)", False),
    ],
)
def test_lines_that_freeze_are_found(line, freezes):
    assert lines_freezing(f"a = 1\n{line}") == [2] * freezes


def test_lines_that_write_into_tensors_are_found():
    source = "p.copy_(old)\nnet.load_state_dict(state)\np.data = old\nq = p.data\np.add_(1)\n"
    assert lines_writing(source) == [1, 2, 3]


@pytest.mark.parametrize(
    ("line", "told"),
    [("y = torch.relu(x - limit)", 1), ("y = x - F.relu(x)", 0), ("y = F.relu(x + b)", 0), ("y = x.relu()", 0)],
)
def test_lines_that_rectify_a_difference_are_found(line, told):
    assert lines_of_hinges(line) == [1] * told


def test_a_rate_is_computed_where_its_name_is_set_and_not_where_another_function_has_the_same_name():
    source = """
    def adjust(optimizer, step):
        rate = 0.1 * (1 - step / 10)
        for group in optimizer.param_groups:
            group["lr"] = rate

    def drop(keep):
        rate = 1 - keep
        return nn.Dropout(rate)

    plain = 0.1
    optimizer.param_groups[0]["lr"] = plain
    """
    assert lines_computing_rates(textwrap.dedent(source)) == [3]
