"""This file is the html skin."""

import re
from html.parser import HTMLParser

import pytest

from torchmagic.views.page import Page, Table
from torchmagic.views.skins.html import as_html, as_html_document

VOID = {"meta", "img", "br", "hr", "input", "link"}


class Reader(HTMLParser):
    """A parser that insists on balanced tags and keeps what it met."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def fake_png(block):
    return b"\x89PNG " + type(block).__name__.encode()


@pytest.mark.parametrize("draw", [None, fake_png])
def test_a_hostile_name_stays_text(hostile_page, draw):
    for html in (
        as_html(hostile_page, title=hostile_page.title, draw=draw),
        as_html_document([hostile_page], title=hostile_page.title),
    ):
        read = Reader(html)
        assert "script" not in read.tags
        assert not [name for _, name, _ in read.attributes if name.startswith("on")]
        assert "<script" not in html


@pytest.mark.parametrize("kind", ["page", "empty_page"])
def test_it_needs_no_script_and_no_network(kind, request):
    page = request.getfixturevalue(kind)
    for html in (
        as_html(page, title="a", uid="u", draw=fake_png),
        as_html_document([page, page], title="a", draw=fake_png),
    ):
        assert "<script" not in html
        assert "http" not in html
        assert "@import" not in html
        assert not re.search(r"url\(", html)


def test_it_says_place_evidence_cause_and_fix_in_words(page):
    text = " ".join(" ".join(Reader(as_html(page)).words).split())
    for words in (
        "ERROR",
        "line 14:",
        "loss.backward()",
        "net.2.weight",
        "step 8",
        "412,308",
        "overshoots",
        "Fix:",
        "uncertain",
    ):
        assert words in text
    assert text.index("grow without bound") < text.index("The loss is NaN from step 9 on")


def test_doubtful_findings_and_consequences_are_folded(page):
    html = as_html(page)
    folded = "".join(re.findall(r"<details.*?</details>", html, flags=re.DOTALL))
    assert "Some units are silent" in folded
    assert "1 more follows from this" in folded


def test_tables_have_heads_that_a_screen_reader_can_use(page):
    scopes = [value for tag, name, value in Reader(as_html(page)).attributes if tag == "th" and name == "scope"]
    heads = Reader(as_html(page)).tags.count("th")
    assert len(scopes) == heads
    assert set(scopes) == {"row", "col"}


def test_a_drawn_plot_says_its_numbers_in_its_alternative_text(page):
    alternatives = [value for tag, name, value in Reader(as_html(page, draw=fake_png)).attributes if name == "alt"]
    assert alternatives == [
        (
            "Plot Loss over step: train 2 → 0.2222, min 0.2222, max 2, 3 not finite, from step 9; "
            "validation 2.5 → 1, min 1, max 2.5."
        ),
        "Histogram Gradient values: 80 values from -1 to 1, most (40) between -0.5 and 0.",
        "Plot Memory, MiB over step: weights 1 → 1, min 1, max 1; activations 1 → 1, min 1, max 1.",
    ]


def test_it_reads_without_its_style(page):
    bare = re.sub(r"<style>.*?</style>", "", as_html(page), flags=re.DOTALL)
    text = " ".join(" ".join(Reader(bare).words).split())
    assert "data 41.2 ms 67%" in text
    assert "! net.2.weight (100, 16) 16,000 inf nan" in text


def test_the_static_copy_carries_its_uid_and_hides_the_widget_error_beside_it(page):
    html = as_html(page, uid="c0ffee")
    assert '<div class="torchmagic-page" data-torchmagic-static="c0ffee">' in html
    assert '.jp-OutputArea:has([data-torchmagic-static="c0ffee"])>.jp-OutputArea-child' in html
    assert "data-torchmagic-static" not in as_html(page)


def test_a_long_table_keeps_its_marked_rows(page):
    table = Table(columns=["name", "n"], rows=[[f"layer{i}", i] for i in range(500)], marked=frozenset({499}))
    html = as_html(Page(title="", blocks=[table]))
    assert "layer499" in html
    assert "… 400 more rows" in html


def test_the_empty_page_says_so(empty_page):
    assert "No findings" in " ".join(Reader(as_html(empty_page)).words)


def test_what_is_folded_waits_behind_its_title(page):
    read = Reader(as_html(page))
    assert "More" in read.words
    assert read.tags.count("details") >= 3
    assert "Told only to those who ask." in read.words


def test_a_small_curve_is_told_to_those_who_cannot_see_it(page):
    labels = [value for tag, name, value in Reader(as_html(page)).attributes if name == "aria-label"]
    assert "3 → 1, min 1, max 3" in labels
