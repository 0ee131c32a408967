"""The manual builds offline without a warning, and whatever it points at is there."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from manual_site import SOME_RULES, built_manual, docs_modules

import torchmagic

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """What a page of the manual has: anchors, links, pictures, and what a browser would fetch for it."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.pictures, self.fetched = {""}, [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img":
            self.pictures.append((given.get("src", ""), given.get("alt", "")))
        if given.get(FETCHED.get(tag)):
            self.fetched.append(given[FETCHED[tag]])


@pytest.fixture(scope="module")
def tools():
    return docs_modules()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return built_manual(tmp_path_factory)


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


@pytest.mark.docs
def test_every_link_of_the_manual_leads_somewhere(site, pages):
    lost = []
    for name, page in pages.items():
        for link in page.links:
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            there = (site / name).parent / unquote(path) if path else site / name
            known = pages.get(there.resolve().relative_to(site.resolve()).as_posix()) if there.exists() else None
            if not there.exists() or (known is not None and unquote(anchor) not in known.anchors):
                lost.append(f"{name}: {link}")
    assert lost == []


@pytest.mark.docs
def test_no_page_asks_another_machine_for_anything(site, pages):
    asked = {what for page in pages.values() for what in page.fetched if re.match(r"(?:\w+:)?//", what)}
    assert asked == set()
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert not [found for style in styles for found in re.findall(r"(?:url\(|@import)\s*[\"']?https?:", style)]


@pytest.mark.docs
def test_every_picture_of_the_manual_is_told_to_those_who_do_not_see_it(pages):
    untold = {(name, source[:80]) for name, page in pages.items() for source, alt in page.pictures if not alt}
    assert untold == set()


@pytest.mark.docs
def test_the_reference_has_every_public_name(pages):
    told = {anchor for name, page in pages.items() if name.startswith("reference/") for anchor in page.anchors}
    objects = {"session", "__version__"}
    assert {f"torchmagic.{name}" for name in torchmagic.__all__ if name not in objects} <= told


@pytest.mark.docs
def test_a_rule_is_a_page_with_its_example(site):
    for rule in SOME_RULES:
        assert f"of {rule.id}" in (site / "rules" / f"{rule.id}.html").read_text(encoding="utf-8")


@pytest.mark.docs
def test_notebooks_are_shown_as_they_were_stored(site):
    text = (site / "notebooks" / "first_look.html").read_text(encoding="utf-8")
    assert "cross_entropy gets probabilities" in text
    assert 'class="tm-finding' in text
    assert "widget-view" not in text


def test_every_page_has_its_line_in_the_contents(tools):
    listed = [page for _, pages in tools["contents"].PARTS for page in pages]
    assert len(listed) == len(set(listed))
    pages = {tools["links"].place_of(f"docs/{path.name}").removesuffix(".md") for path in DOCS.glob("*.md")}
    missing = pages - set(listed) - {"index"}
    assert not missing, f"add to docs/contents.py: {sorted(missing)}"


@pytest.mark.parametrize(
    ("page", "text", "mended"),
    [
        ("docs/a.md", "[b](b.md#c)", "[b](b.md#c)"),
        ("docs/a.md", "[b](index.md#c)", "[b](manual.md#c)"),
        ("docs/api/a.md", "[b](../../CHANGELOG.md)", "[b](../changes.md)"),
        ("docs/a.md", "[b](../notebooks/models.ipynb)", "[b](notebooks/models.ipynb)"),
        ("notebooks/a.ipynb", "[b](../docs/guard.md)", "[b](../guard.md)"),
        ("docs/a.md", "[rules](../torchmagic/rules)", "[rules](rules/index.md)"),
        ("docs/a.md", "[`x`](../torchmagic/records)", "`x`"),
        ("docs/a.md", "[b](https://example.org/c)", "[b](https://example.org/c)"),
        ("docs/a.md", "```\n[b](../README.md)\n```", "```\n[b](../README.md)\n```"),
    ],
)
def test_links_that_leave_the_manual_are_mended(tools, page, text, mended):
    assert tools["links"].mended(text, page, carry=lambda _: None) == mended


def test_a_file_of_the_project_is_carried_along(tools):
    carried = []
    text = tools["links"].mended("[b](../benchmarks/floor.py)", "docs/a.md", carry=carried.append)
    assert (text, carried) == ("[b](files/benchmarks/floor.py)", ["benchmarks/floor.py"])


def test_a_picture_is_shown_in_the_theme_of_the_reader(tools):
    text = tools["links"].mended("![x](images/house-light.svg)", "docs/a.md", carry=lambda _: None)
    assert re.findall(r"\{image\} (\S+)\n:alt: x\n:class: (\S+)", text) == [
        ("images/house-light.svg", "only-light"),
        ("images/house-dark.svg", "only-dark"),
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_of_the_house_has_the_rooms_of_the_contracts(tools, theme):
    stored = (DOCS / "images" / f"house-{theme}.svg").read_text(encoding="utf-8")
    assert stored == tools["house"].drawn(theme), "draw it again: python docs/house.py"
    drawn = [room for floor in tools["house"].floors() for room in floor]
    assert {"jupyter", "probes", "rules", "records"} <= set(drawn)
    assert all(f">{room}</text>" in stored for room in drawn)


def test_the_table_of_other_tools_has_the_figures_that_were_measured(tools):
    measured = tools["peer_table"].MEASURED.read_text(encoding="utf-8")
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    for made in (tools["peer_table"].table(measured), tools["peer_table"].list_of_tools(measured)):
        assert len(made.splitlines()) > 5
        assert made in page, "python docs/peer_table.py writes the tables"


def test_the_page_of_other_tools_writes_no_figure_by_hand(tools):
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    prose = [line for line in page.splitlines() if not line.startswith("|")]
    assert set(re.findall(r"\d+\.\d+", " ".join(prose))) <= {"1.000"}
