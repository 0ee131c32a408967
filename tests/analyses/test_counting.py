"""This file tests how numbers and names are written."""

from torchmagic.analyses.counting import counted, few


def test_one_of_something_takes_no_s():
    assert counted(1, "step") == "1 step"
    assert counted(1200, "step") == "1,200 steps"


def test_of_many_names_a_few_are_shown_and_the_rest_is_counted():
    assert few([]) == ""
    assert few(["a", "b"]) == "a, b"
    assert few(list("abcd")) == "a, b, c, d"
    assert few(list("abcdef")) == "a, b, c, d and 2 more"
    assert few(["a", "b"], 2000) == "a, b and 1,998 more"
    assert few(list("abc"), most=1) == "a and 2 more"
