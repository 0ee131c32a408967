"""This file tests that text is broken between words, and never between a number and its percent sign."""

import pytest

from torchmagic.views.skins.wrapping import wrap


@pytest.mark.parametrize("width", range(12, 40))
def test_a_percent_sign_stays_with_its_number(width):
    text = "waiting for data 8.3 %, forward 19 %, optimizer 11 %"
    lines = wrap(text, width, subsequent_indent="  ")
    assert not any(line.strip().startswith("%") for line in lines)
    assert " ".join(line.strip() for line in lines) == text
    assert max(map(len, lines)) <= width


def test_lines_are_indented_as_asked():
    assert wrap("one two", 5, initial_indent="- ", subsequent_indent="  ") == ["- one", "  two"]
    assert wrap("", 9) == []
