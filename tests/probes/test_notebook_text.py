"""This file tests the notebook's text: cells one after the other, and their lines found again."""

import linecache

import pytest

from torchmagic.probes.notebook_text import notebook_text
from torchmagic.records.place import Place


@pytest.fixture
def cells(monkeypatch):
    known = {}
    monkeypatch.setattr(linecache, "cache", known)

    def add(file, source):
        known[file] = (len(source), None, source.splitlines(keepends=True), file)

    return add


def test_cells_follow_one_another_and_the_one_that_runs_is_last(cells):
    cells("<ipython-input-3-c>", "z = 3\nw = 4")
    cells("<ipython-input-1-a>", "x = 1\n%matplotlib inline\n")
    cells("<ipython-input-2-b>", "y = (")  # no program
    cells("somewhere.py", "q = 1")
    notebook = notebook_text("<ipython-input-3-c>")
    assert notebook.text.split("\n") == ["x = 1", "%matplotlib inline", "z = 3", "w = 4"]
    place = Place(file="<ipython-input-3-c>", line=2, source="w = 4")
    assert notebook.line_of(place) == 4
    assert notebook.place_at(4) == place
    assert notebook.place_at(1).file == "<ipython-input-1-a>"
    assert notebook.place_at(None) is notebook.place_at(9) is None
    assert notebook.line_of(Place(file="other", line=1)) == 0


def test_without_cells_there_is_no_text(cells):
    assert notebook_text() == ("", ())
