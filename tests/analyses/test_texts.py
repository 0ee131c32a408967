"""Lines are found in the run's own source first, and else in the other texts that took part."""

from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import beside, places_by, text_around, texts_of
from torchmagic.records.place import Place
from torchmagic.session.run import Run

OWN = "net = build()\nfit(net)\n"
OTHER = "def fit(net):\n    # train\n    loss.backward()\n"
BUILD = "def build():\n    return Net()\n"


def run_with(source=OWN):
    run = Run(source=source)
    run.texts = {"<cell 1>": OTHER, "<cell 2>": BUILD}
    return run


def test_the_text_around_a_place_is_that_of_its_file():
    run = run_with()
    assert text_around(run, Place(file="<cell 1>", line=3, source="loss.backward()")) == OTHER
    assert text_around(run, Place(file="<this cell>", line=2, source="fit(net)")) == OWN
    assert texts_of(run) == (OWN, OTHER, BUILD)


def test_of_two_texts_with_the_same_line_the_files_own_is_meant():
    run = run_with(source="a = 1\nb = 2\nloss.backward()\n")
    assert text_around(run, Place(file="<cell 1>", line=3, source="loss.backward()")) == OTHER


def test_a_text_that_says_something_else_there_is_none():
    run = run_with()
    assert text_around(run, None) == ""
    assert text_around(run, Place(file="<cell 1>", line=1, source="loss.backward()")) == ""
    assert text_around(run, Place(file="<cell 1>", line=9, source="")) == ""
    assert text_around(run, Place(file="elsewhere.py", line=3, source="loss.backward()")) == ""


def test_another_line_of_the_same_text():
    run, place = run_with(), Place(file="<cell 1>", line=3, source="loss.backward()")
    assert beside(run, place, 1) == Place(file="<cell 1>", line=1, source="def fit(net):")
    assert beside(run, place, None) is place


def test_what_the_cell_has_is_not_looked_for_elsewhere():
    run = run_with()
    assert places_by(run, lambda text: lines_calling(text, ("fit",))) == [Place(file="", line=2, source="fit(net)")]
    assert places_by(run, lambda text: lines_calling(text, ("Net",))) == [
        Place(file="<cell 2>", line=2, source="return Net()")
    ]
    assert places_by(run, lambda text: lines_calling(text, ("Other",))) == []


def test_one_line_or_none_is_found_as_well():
    run = run_with(source="")
    assert [each.line for each in places_by(run, lambda text: 2 if "build" in text else None)] == [2]
