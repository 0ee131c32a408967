"""This file tests whether cells are read that hold more than Python."""

import ast

import pytest

from torchmagic.analyses.syntax import tree_of


@pytest.mark.parametrize(
    "line",
    ["%matplotlib inline", "!pip list", "?print", "print?", "print??", "files = !ls", "a, b = %sx ls", "x.y = !ls"],
)
def test_lines_that_only_ipython_understands_are_passed_over(line):
    body = tree_of(f"x = 1\nfor i in range(3):\n    {line}\n    y = 2\nz = 3\n").body
    assert [node.lineno for node in body] == [1, 2, 5]
    assert [type(node) for node in body[1].body] == [ast.Pass, ast.Assign]


def test_python_is_read_as_it_stands():
    assert ast.unparse(tree_of("x = a % b\ny = a != b\n")) == "x = a % b\ny = a != b"
    assert ast.unparse(tree_of("%time f()\nx = a % b\ny = a != b\n")) == "pass\nx = a % b\ny = a != b"


def test_what_is_no_code_has_an_empty_tree():
    assert tree_of("what = = this").body == []
    assert tree_of("x = 1\0").body == []
