"""This file is the ticks of axes, as the panel and the report reckon them in a page of their own."""

import math
from pathlib import Path

import pytest

import torchmagic

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

PACKAGE = Path(torchmagic.__file__).parent
SCRIPTS = {
    "panel": [PACKAGE / "jupyter" / "panel" / "script" / f"{name}.js" for name in ("numbers", "scales")],
    "report": [PACKAGE / "exports" / "report" / f"{name}.js" for name in ("numbers", "scales")],
}
NEIGHBOURS = [(low, math.nextafter(low, math.inf)) for low in (0.1, 1.0, -3.0, 1e-300, 1e300, 5e-324)]
RANGES = [(0, 1), (0.37, 0.92), (-4, 1e6), (0, 1e-9), (-1e308, 1e308), (1.5, 1.5), (1e20, 1e20 + 16384)]


class Axis:
    """The ticks of an axis as a page reckons them, and what is written beside them."""

    def __init__(self, page):
        self.page = page

    def __call__(self, *bounds):
        return self.page.evaluate("([low, high, count]) => roundTicks(low, high, count)", bounds)

    def words(self, *bounds):
        reckon = "([low, high, count]) => roundTicks(...grown(low, high, false), count).map((tick) => asNumber(tick))"
        return self.page.evaluate(reckon, bounds)


@pytest.fixture(scope="module", params=sorted(SCRIPTS))
def ticks(chromium, request):
    context = chromium.new_context()
    page = context.new_page()
    for script in SCRIPTS[request.param]:
        page.add_script_tag(content=script.read_text(encoding="utf-8").replace("export ", ""))
    yield Axis(page)
    context.close()


@pytest.mark.parametrize("count", [2, 4, 9])
@pytest.mark.parametrize(("low", "high"), NEIGHBOURS + RANGES)
def test_ticks_are_few_and_within_their_axis(ticks, low, high, count):
    drawn = ticks(low, high, count)
    assert len(drawn) <= 2 * count + 2
    slack = (high - low) * 1e-6 + abs(low) * 1e-11 + 1e-320
    assert all(low - slack <= each <= high + slack for each in drawn)


def test_ticks_are_round(ticks):
    assert ticks(0.37, 0.92, 5) == [0.4, 0.6, 0.8]
    assert ticks(-3, 12, 4) == [0, 5, 10]
    assert ticks(0, 30, 3) == [0, 10, 20, 30]


@pytest.mark.parametrize(("low", "high"), [(548.88, 548.91), (-2.0, -1.9999), (1e6, 1e6 + 1), (0.0, 1e-9), (3.0, 3.0)])
def test_no_two_ticks_read_alike(ticks, low, high):
    words = ticks.words(low, high, 4)
    assert len(words) > 1
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(("low", "high"), [(0.002, 0.085), (0.9, 2.4), (0.51, 1.49), (-0.4, 0.9), (11, 49)])
def test_there_are_two_ticks_at_least(ticks, low, high):
    assert 2 <= len(ticks(low, high, 4)) <= 8
