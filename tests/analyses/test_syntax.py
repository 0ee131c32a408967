"""This file tests whether cells are read that hold more than Python."""

import ast
import sys
import threading

import pytest

from torchmagic.analyses.syntax import parsed, parsed_expression, steadily, tree_of


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


class Busy:
    """Lets other threads run where garbage is collected: in the middle of making a tree, too."""

    def __init__(self):
        self.me = self

    def __del__(self):
        sum(range(50))


def test_a_source_is_read_while_another_thread_reads_one():
    source = "\n".join(f"a{i} = b + c(d, [e, f])" for i in range(200))
    failed = []

    def read(parse, number=100):
        for _ in range(number):
            try:
                parse(source)
            except SystemError as error:
                failed.append(error)
            [Busy() for _ in range(50)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        others = threading.Thread(target=read, args=(parsed,))
        others.start()
        read(parsed)
        others.join()
    finally:
        sys.setswitchinterval(interval)
    assert failed == []


@pytest.mark.parametrize("read", [parsed, parsed_expression])
def test_what_is_no_python_is_still_an_error(read):
    with pytest.raises(SyntaxError):
        read("a b")


def test_what_never_succeeds_is_told():
    def parse():
        raise SystemError("broken")

    with pytest.raises(SystemError, match="broken"):
        steadily(parse)
