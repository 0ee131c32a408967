"""This file tests that no text of the user's, whatever is in it, becomes markup or moves a terminal's cursor."""

import json
import unicodedata
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser

import mistune
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from torchmagic.analyses.profile_window import PHASES
from torchmagic.records.costs import AllocationsRecord, CostsRecord, LineCost, LoaderCost, ModuleCost, OperatorCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord, NoteRecord
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
from torchmagic.session.history import Entry
from torchmagic.session.run import Status
from torchmagic.views.comparison import comparison_page
from torchmagic.views.findings import headline
from torchmagic.views.history import history_page
from torchmagic.views.lost import lost_pages
from torchmagic.views.metric import metric_page
from torchmagic.views.page import Plot
from torchmagic.views.pages import run_pages
from torchmagic.views.profile_comparison import profile_comparison_page
from torchmagic.views.skins.html import as_html, as_html_document
from torchmagic.views.skins.markdown import as_markdown
from torchmagic.views.skins.matplotlib import as_png
from torchmagic.views.skins.text import as_text
from torchmagic.views.skins.wire import as_wire

TRAPS = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</style></title></textarea><svg onload=alert(1)>",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\u202eevil\u202c\u200f\u2066x\u2069",
    "two\nlines\r\nand\u2028more\u2029\x85here\x00",
    "$\\frac{a}{b}$ & `code` | *bold* [x](javascript:alert(1))",
    "{{ 7 * 7 }}{% raw %}",
    "\ud800",
    "",
    " ",
)
LONG = "longname" * 1250
NOW = datetime(2026, 3, 6, 15, 0).astimezone().timestamp()
hostile = st.one_of(
    st.sampled_from(TRAPS), st.text(max_size=30), st.tuples(st.sampled_from(TRAPS), st.text(max_size=9)).map("".join)
)


class Tags(HTMLParser):
    """Keeps what tags and attributes there are."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        assert not any("javascript:" in (value or "") for name, value in attrs if name in ("href", "src"))


def entry(text):
    return Entry(
        number=1, id=text, name=text, status=Status.LOST, started=NOW, seconds=1.0, cost=0.1, steps=1, errors=1,
        warnings=0, infos=0, loss=(1.0, 2.0), note=text, tags=(text, text), heading=text,
    )  # fmt: skip


def profile_records(text, seconds):
    """Return a profile in which a text stands wherever one of the user's may."""
    where = Place(file=text, line=1, source=text, function=text)
    phases = dict.fromkeys(PHASES, (seconds,) * 6) | {"data": (seconds,) * 5 + (9.0 * seconds,)}
    module = ModuleCost(model=text, path="", class_name=text, calls=1, forward=seconds, forward_own=seconds, dtype=text)
    parts = [replace(module, path=f"{text}{i}", forward=seconds / 4) for i in range(3)]
    operator = OperatorCost(
        name=text, phase=text, calls=1, total=seconds, own=seconds, shapes=text, dtype=text, module=text, place=where
    )
    return [
        ProfileRecord(
            first_step=0, steps=6, waited=0, warmed=0, seconds=50.0, busy=1.0, processor=1.0, events=1, options=(text,),
            cut=text, device=text, flops=1, uncounted=(text,), trace=text, notes=(text,), peak_bytes=9,
        ),
        PhasesRecord(steps=tuple(range(6)), **phases),
        CostsRecord(
            modules=(module, *parts),
            lines=(LineCost(place=where, calls=1, total=seconds, own=seconds, complete=False),),
            operators=(operator,),
            loaders=(LoaderCost(loader=text, workers=1, batches=9, waits=(1.0,) * 9, total=9.0, place=where),),
        ),
        AllocationsRecord(
            seconds=(0.0, 1.0), phases={text: (1, 9), "forward": (0, 0)}, peak=1.0, step=1, phase=text, module=text,
            place=where, holders=((text, 9),),
        ),
        SourcesRecord(texts={text: f"{text}\n{text}"}, names={text: text}),
    ]  # fmt: skip


def listed(make_full, text):
    run, other = make_full(text), make_full("net")
    for each in (run, other):
        each.findings = (
            Finding(
                rule="dead-relu", severity=Severity.ERROR, confidence=1.0, title=text, module=text, parameter=text,
                optimizer=text, line=1, source=text, evidence={text: text}, why=text, fix=f"{text}\n{text}",
            ),
        )  # fmt: skip
    run.records += [CrashRecord(error=text, message=text, file=text, line=1, source=text), NoteRecord(text=text)]
    run.source, other.source = f"{text}\nx = 1", "x = 2"
    run.note, run.tags, run.settings = text, (text,), {"level": text, text: text}
    run.status = Status.LOST
    run.records += profile_records(text, 1.0)
    other.records += profile_records(text, 2.0)
    return [
        history_page([entry(text)], now=NOW),
        comparison_page([run, other]),
        comparison_page([other, run, make_full(text)]),
        metric_page([run, other], "loss"),
        profile_comparison_page(run, other),
        *lost_pages(run),
        *run_pages(run),
    ], headline(run)


def is_control(char):
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\n\t"


@given(hostile)
@example(LONG)
@example("".join(TRAPS))
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_no_text_becomes_markup_or_a_control_character(make_full, text):
    pages, title = listed(make_full, text)
    for html in (as_html(pages, title=title, uid="u"), as_html_document(pages, title=title)):
        read = Tags(html)
        assert not read.tags & {"script", "svg", "iframe", "object", "textarea"}
        assert "img" not in read.tags
        assert not [name for name in read.attributes if name.startswith("on")]
        assert not any(map(is_control, html))
    for plain in (as_text(pages, title=title), as_markdown(pages, title=title)):
        assert not any(map(is_control, plain))
    drawn = Tags(mistune.html(as_markdown(pages, title=title)))
    assert not drawn.tags & {"script", "svg", "img", "a"}
    json.dumps([as_wire(page) for page in pages], allow_nan=False)


@pytest.mark.parametrize("text", ["".join(TRAPS), *TRAPS[-5:], LONG])
def test_no_name_breaks_a_picture(make_full, text):
    page = comparison_page([make_full(text), make_full("net")])
    plot = next(block for block in page.blocks if isinstance(block, Plot))
    assert as_png(replace(plot, x_label=text, y_label=text)).startswith(b"\x89PNG")


@pytest.mark.parametrize("text", [LONG, f"{LONG} {LONG}"])
def test_a_very_long_name_does_not_leave_the_width_of_a_text(make_full, text):
    pages, title = listed(make_full, text)
    lines = as_text(pages, title=title).splitlines()
    # a fix may hold code, and source keeps its own lines
    assert [line for line in lines if len(line) > 100 and not line.startswith((" " * 8, "  + ", "  - "))] == []


def test_the_document_has_nothing_that_a_browser_would_fetch(make_full):
    pages, title = listed(make_full, TRAPS[1])
    assert not {"href", "src"} & Tags(as_html(pages, title=title)).attributes
