"""This file is pages of the built manual before axe-core, each of another kind, in light and dark."""

import pytest
from axe import grave_faults, load_axe
from contrasts import CONTRASTS
from manual_site import SOME_RULES, built_manual

pytestmark = pytest.mark.docs
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

# The start, a rule, a page of prose and tables, a notebook, the reference.
PAGES = ("index", f"rules/{SOME_RULES[0].id}", "levels", "notebooks/first_look", "reference/index")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return built_manual(tmp_path_factory)


@pytest.fixture(scope="module", params=["light", "dark"])
def themed(chromium, request):
    context = chromium.new_context(viewport={"width": 1300, "height": 1000}, color_scheme=request.param)
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_manual_can_be_read_by_all(site, themed, name):
    themed.goto((site / f"{name}.html").as_uri())
    load_axe(themed)
    assert grave_faults(themed) == []


def test_letters_of_outputs_stand_out_in_the_colours_of_the_manual(site, themed):
    themed.goto((site / "notebooks" / "profiling.html").as_uri())  # it has areas of every heat
    themed.evaluate("() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert themed.locator(".tm-box").count() > 10
    assert themed.evaluate(CONTRASTS) == []
