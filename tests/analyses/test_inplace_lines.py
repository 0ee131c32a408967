"""This file tests which tensors a line changes in place."""

import pytest

from torchmagic.analyses.inplace_lines import changes

MODULE = ((1, "<module>"),)


def changed(source, **more):
    return [(each.line, each.target) for each in changes(source, scopes=MODULE, **more)]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("h += 1", "h"),
        ("h[0] = 1", "h"),
        ("h[0], x = 1, 2", "h"),
        ("self.h.add_(1)", "h"),
        ("h.view(-1).mul_(2)", "h"),
        ("F.relu_(h)", "h"),
        ("torch.relu_(h)", "h"),
        ("nn.init.zeros_(h)", "h"),
        ("F.relu(h, inplace=True)", "h"),
        ("torch.add(a, b, out=h)", "h"),
        ("y = self.act(h)", "h"),
    ],
)
def test_every_way_of_changing_a_tensor_names_it(line, name):
    assert changed(line, inplace=frozenset({"act"})) == [(1, name)]


@pytest.mark.parametrize(
    "line",
    [
        "h = h + 1",
        "h.requires_grad_(False)",
        "h.__len__()",
        "F.relu(h, inplace=False)",
        "F.relu(h)",
        "f_(h)",
        "y = self.act(h)",
    ],
)
def test_other_lines_change_nothing(line):
    assert changed(line) == []


def test_what_stands_in_a_function_or_class_is_not_the_modules():
    source = "def f(h):\n    h += 1\n\n\nclass Net:\n    h += 1\n\n\nx += 1\n"
    assert changed(source) == [(9, "x")]
    assert [(each.line, each.target) for each in changes(source, scopes=((1, "f"),))] == [(2, "h")]
    assert changes(source, scopes=((3, "f"),)) == []


def test_what_made_a_tensor_is_told_the_latest_first():
    source = "h = torch.sigmoid(x)\nh = a * b\nh, c = 1, 2\nh += 1\nh = later(x)\n"
    (change,) = changes(source, scopes=MODULE)
    assert change.made_by == ("Mult", "sigmoid")
