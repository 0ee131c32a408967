"""This file tests which line makes a module, and which of several lines is the one to move."""

import pytest

from torchmagic.analyses.building_lines import line_building
from torchmagic.analyses.built_lines import begins_a_phase, is_returned, line_that_builds
from torchmagic.records.place import Place

NET = """net = nn.Sequential(
    nn.Linear(4, 8),
    nn.ReLU(),
    nn.Sequential(
        nn.Linear(8, 2),
    ),
)
"""


@pytest.mark.parametrize(
    ("path", "line"), [("net", 1), ("net.0", 2), ("net.2", 4), ("net.2.0", 5), ("net.9", 1), ("a", 0)]
)
def test_a_layer_of_a_sequence_has_its_own_line(path, line):
    assert line_building(NET, path.split(".")) == line


@pytest.mark.parametrize(
    ("items", "line"),
    [
        ("[\n    nn.Linear(4, 8),\n    make(),\n]", 3),
        ("\n    *blocks,\n    make(),\n", 1),
        ("\n    first,\n    make(),\n", 3),
    ],
)
def test_a_list_is_looked_into_and_what_is_unpacked_is_not_counted(items, line):
    assert line_building(f"net = nn.Sequential({items})", ["net", "1"]) == line


def test_a_layer_with_a_name_has_its_own_line():
    assert line_building("net = nn.Sequential(\n    first,\n)\n", ["net", "0"]) == 2


def test_two_lines_of_the_same_name_are_none():
    assert line_building("self.a = nn.Linear(1, 2)\nother.a = nn.Linear(2, 1)\n", ["net", "a"]) == 0
    assert line_building("x = 1\n", []) == 0


MAKERS = """def made(net):
    opt = Adam(net.parameters())
    return opt, 1


def trained(net):
    opt = Adam(net.parameters())
    opt.step()


def pure(net):
    return Adam(net.parameters())


class Maker:
    def __init__(self, net):
        self.opt = Adam(net.parameters())


opt = Adam(net.parameters())
"""


@pytest.mark.parametrize(("line", "returned"), [(2, True), (7, False), (12, True), (17, False), (20, False)])
def test_a_function_that_only_makes_a_thing_is_known(line, returned):
    assert is_returned(MAKERS, line) is returned


def place(line, function=""):
    return Place(file="<cell>", line=line, source=MAKERS.splitlines()[line - 1].strip(), function=function)


def test_the_innermost_line_that_does_more_than_make_it_is_the_one_to_move():
    assert line_that_builds(MAKERS, [place(2, "made"), place(20)]).line == 20
    assert line_that_builds(MAKERS, [place(7, "trained"), place(20)]).line == 7
    assert line_that_builds(MAKERS, [place(7, "<lambda>"), place(20)]).line == 20
    assert line_that_builds(MAKERS, [place(2, "made")]).line == 2


def test_lines_of_other_cells_are_passed_over_unless_there_are_no_others():
    other = Place(file="<setup>", line=2, source="return SGD(p)", function="make")
    assert line_that_builds(MAKERS, [other, place(20)]).line == 20
    assert line_that_builds(MAKERS, [other]) == other
    assert line_that_builds(MAKERS, []) is None


PASSES = """for epoch in range(5):
    {outer}
    for batch in pool.split(32):
        loss.backward()
        opt.step()
"""
TASKS = """for task in tasks:
    opt = Adam(net.parameters())
    for epoch in range(5):
        for batch in pool.split(32):
            loss.backward()
            opt.step()
"""


@pytest.mark.parametrize(
    ("source", "line", "phase"),
    [
        (TASKS, 2, True),
        ("def fit(pool):\n    " + TASKS.replace("\n", "\n    "), 3, True),
        (PASSES.format(outer="opt = Adam(net.parameters())"), 2, False),
        ("opt = Adam(net.parameters())\n" + PASSES.format(outer="pass"), 1, True),
        (
            "def fit():\n    opt = Adam()\n    for x in xs:\n        opt.step()\nfor epoch in range(9):\n    fit()\n",
            2,
            False,
        ),
        ("opt = Adam(net.parameters())\n", 1, False),
        ("for x in xs:\n    opt = Adam()\n    opt.step()\n", 2, False),
    ],
)
def test_what_steps_in_two_loops_more_is_built_for_a_phase(source, line, phase):
    assert begins_a_phase(source, line) == phase
