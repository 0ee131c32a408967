"""This file is which lines of a source with costs are shown."""

from hypothesis import given
from hypothesis import strategies as st

from torchmagic.analyses.profile_regions import MOST_COSTLY, SHORT, gaps, shown_lines


def test_a_short_text_is_shown_whole():
    assert shown_lines(SHORT, {3: 1.0}, most=1.0) == list(range(1, SHORT + 1))


def test_of_a_long_text_the_lines_with_costs_are_shown_with_those_around():
    assert shown_lines(200, {50: 1.0, 199: 0.5}, most=1.0) == [48, 49, 50, 51, 52, 197, 198, 199, 200]


def test_a_line_that_costs_next_to_nothing_does_not_count():
    assert shown_lines(200, {50: 1.0, 90: 0.001}, most=1.0) == [48, 49, 50, 51, 52]
    assert shown_lines(200, {50: 1.0}, most=1000.0) == []


def test_of_very_many_lines_the_dearest_are_shown():
    shown = shown_lines(5000, {number: 1.0 + number / 5000 for number in range(1, 5001, 10)}, most=2.0)
    assert len(shown) == 5 * MOST_COSTLY
    assert 4991 in shown
    assert 1 not in shown


@given(st.integers(0, 400), st.dictionaries(st.integers(1, 400), st.floats(0, 10)))
def test_lines_and_gaps_together_are_the_text(length, costs):
    known = {number: cost for number, cost in costs.items() if number <= length}
    shown = shown_lines(length, known, most=max(known.values(), default=0.0))
    assert shown == sorted(set(shown))
    assert all(1 <= number <= length for number in shown)
    assert len(shown) + sum(gaps(shown, length).values()) == length
