"""This file is panel, saved copy and report before axe-core: every kind of page, all opened, in light and dark."""

import json
from functools import cache

import pytest
from alternatives import untold
from axe import faults, load_axe
from pages_of_every_kind import full_run, row_page, sets_of_pages
from several_runs import bad, good

from torchmagic.exports.html_document import document
from torchmagic.jupyter.panel.widget import Panel
from torchmagic.records.tensor_picture import Picture
from torchmagic.views.skins.html import as_html, as_html_document
from torchmagic.views.skins.pictures import picture_png
from torchmagic.views.skins.wire import as_wire

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

# The ground and the letters of JupyterLab's themes.
THEMES = {"light": ("#ffffff", "rgba(0, 0, 0, 0.87)"), "dark": ("#111111", "rgba(255, 255, 255, 0.87)")}
NOTEBOOK = """<!doctype html><html lang="en"><head><title>a notebook</title><style>
body {{ color-scheme: {theme}; background: {ground}; color: {ink}; --jp-layout-color0: {ground};
  --jp-content-font-color1: {ink} }}
{css}</style></head><body><main><h1>A notebook</h1><h2>A part of it</h2>{content}</main></body></html>"""
# The panel with a kernel that hears it and answers for each row.
LIVE = """
([script, state, row]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const heard = [];
  const model = {
    get: (name) => state[name],
    on: (names, listener) => names.split(" ").forEach((name) => heard.push([name, listener])),
    off: () => {},
    send: ({ type, name }) => {
      const answer = { hello: { type: "hello-ack" }, row: { type: "row", name, page: row } }[type];
      if (answer) heard.forEach(([event, listener]) => event === "msg:custom" && listener(answer));
    },
  };
  window.close_?.();
  const el = document.createElement("div");
  document.getElementById("here").replaceChildren(el);
  return import(url).then((panel) => { window.close_ = panel.default.render({ model, el }); });
}
"""
SPLIT = {"data": 0.2, "forward": 0.3, "backward": 0.3, "optimizer": 0.1, "other": 0.05, "torchmagic": 0.05}
PROGRESS = {"batch": 3, "batches": 10, "epoch": 1, "seconds_per_step": 0.1, "seconds_left": 4.0, "shares": SPLIT}
STATE = {
    "state": "running",
    "step": 120,
    "elapsed": 12.8,
    "overhead": 0.01,
    "findings": {"error": 2, "warning": 2, "info": 1},
    "first": "Gradients grow without bound",
    "doing": "steps 3 to 12 are profiled",
    "progress": PROGRESS,
    "watching": {"level": "basic", "probes": {"losses": True, "graph": False}},
}
SHEETS = {"comparison", "history", "benchmark", "tensors"}
OPEN_ALL = "() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"


@pytest.fixture(scope="module", params=sorted(THEMES))
def themed(chromium, request):
    context = chromium.new_context(viewport={"width": 1000, "height": 1000}, color_scheme=request.param)
    context.set_default_timeout(30_000)
    yield context.new_page(), request.param
    context.close()


@pytest.fixture(scope="module")
def live(themed):
    page, theme = themed
    ground, ink = THEMES[theme]
    content = '<div id="here"></div>'
    page.set_content(NOTEBOOK.format(theme=theme, ground=ground, ink=ink, css=Panel._css, content=content))
    load_axe(page)

    def show(name):
        wired = json.loads(json.dumps({each.title: as_wire(each) for each in sets_of_pages()[name]}))
        status = {"state": "sheet"} if name in SHEETS else STATE
        model = {"status": status, "title": "lr sweep", "uid": "", "names": [], "opened": {}, "pages": wired}
        page.evaluate(LIVE, [Panel._esm, model, as_wire(row_page())])
        return page.locator(".torchmagic-panel")

    return show


@pytest.mark.parametrize("name", sorted(sets_of_pages()))
def test_every_tab_of_the_panel_can_be_used_by_all(themed, live, name):
    page, theme = themed
    panel = live(name)
    for tab in panel.get_by_role("tab").all():
        tab.click()
        page.evaluate(OPEN_ALL)
        opener = panel.locator(".tm-opener:visible")
        if opener.count():
            opener.first.click()
            expect(panel.locator(".tm-details .tm-page > *").first).to_be_visible()
        told = tab.inner_text()
        assert faults(page, slowly=name == "sample", colours_alone=theme == "dark") == [], told


LOOKS = """
(figures) => figures.map((figure) => [
  [...figure.querySelectorAll("path[class*=line]")].map((line) => getComputedStyle(line).strokeDasharray),
  [...figure.querySelectorAll("[class*=swatch]")].map((sign) => getComputedStyle(sign).backgroundImage),
])
"""


def test_lines_of_the_panel_differ_by_their_dashes_and_so_does_their_legend(live):
    panel = live("ranks")
    panel.get_by_role("tab", name="Ranks").click()
    for lines, signs in panel.locator("figure:visible").evaluate_all(LOOKS):
        assert (len(lines), len(set(lines))) == (4, 4)
        assert len(set(signs)) == 4


def dot(_block):
    """Return a picture in a moment: what is drawn in it, no rule can see."""
    return picture_png(Picture(kind="rgb", width=1, height=1, pixels=bytes(3)))


@cache
def saved():
    """Return what is kept in files, by what it is: a copy in a notebook, a file of pages, reports."""
    together = [page for pages in sets_of_pages().values() for page in pages]
    return {
        "copy": as_html(together, title="A run", uid="c0ffee", draw=dot),
        "file": as_html_document(list(sets_of_pages()["sample"]), title="A run", draw=dot),
        "report": document([full_run()]),
        "report of two": document([good(), bad()]),
    }


@pytest.mark.parametrize("name", ["copy", "file", "report", "report of two"])
def test_what_is_saved_can_be_read_by_all(themed, name):
    page, theme = themed
    ground, ink = THEMES[theme]
    html = saved()[name]
    if name == "copy":
        html = NOTEBOOK.format(theme=theme, ground=ground, ink=ink, css="", content=html)
    page.set_content(html)
    page.evaluate(OPEN_ALL)
    load_axe(page)
    assert faults(page, slowly=name == "file", colours_alone=theme == "dark") == []


def test_plots_of_a_report_are_alive_and_differences_stay_as_they_are(themed):
    page, _ = themed
    page.set_content(saved()["report of two"])
    page.evaluate(OPEN_ALL)
    assert page.locator("figure.tm-diff").count() > 0
    assert page.locator("figure.tm-diff svg").count() == 0
    plots = page.locator("figure:has(> img)")
    for lines, signs in page.locator("#lead-2 figure.live").evaluate_all(LOOKS):
        assert (len(set(lines)), len(set(signs))) == (2, 2)
    assert plots.count() == page.locator("figure.live").count() > 3
    for figure in plots.all():
        assert figure.locator("svg[role=img]").get_attribute("aria-label").startswith("Plot ")


@pytest.mark.parametrize("name", ["copy", "file", "report", "report of two"])
def test_every_picture_that_is_saved_is_told_in_words(name):
    assert untold(saved()[name]) == []
