"""This file tests the page as text: what stands in it, and that nothing in it is taken for markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from profile_runs import mlp_run

from torchmagic.exports.catalogue import export
from torchmagic.exports.html_document import document, in_script
from torchmagic.session.run import Run
from torchmagic.views.page import Fold, Plot
from torchmagic.views.pages import run_pages


class Elements(HTMLParser):
    """The elements of a page, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.scripts, self._inside = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        self._inside = tag == "script"

    def handle_endtag(self, _tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.scripts.append(data)


def plots(blocks):
    for block in blocks:
        yield from [block] if isinstance(block, Plot) else plots(block.blocks) if isinstance(block, Fold) else []


def test_each_figure_has_its_curves(run):
    found = Elements(document([run]))
    wired = json.loads(found.scripts[0])
    expected = [plot for page in run_pages(run) for plot in plots(page.blocks)]
    assert found.names.count("figure") == len(wired)
    assert [[line["name"] for line in each["lines"]] for each in wired if each] == [
        [line.name for line in plot.lines] for plot in expected
    ]
    loss = next(each for each in wired if each and each["lines"][0]["name"] == "loss")["lines"][0]
    assert loss["steps"] == run.series("loss")[0]
    assert loss["values"] == pytest.approx(run.series("loss")[1], rel=1e-6)


def test_what_is_marked_on_a_curve_is_in_the_document():
    html = document([mlp_run()])
    figures = json.loads(re.search(r'id="figures"[^>]*>(.*?)</script>', html, flags=re.DOTALL)[1])
    assert [9, "waiting for data"] in [mark for figure in figures if figure for mark in figure["marks"]]


def test_pictures_stand_in_for_the_script(run):
    found = Elements(document([run]))
    pictures = [value for name, value in found.attributes if name == "src"]
    assert len(pictures) == found.names.count("figure") > 1
    assert all(value.startswith("data:image/png;base64,") for value in pictures)


def test_nothing_is_fetched_from_anywhere(runs):
    found = Elements(document(runs))
    links = [value for name, value in found.attributes if name in {"src", "href", "action", "srcset", "data", "poster"}]
    assert all(value.startswith(("data:", "#")) for value in links)
    assert not re.search(r"url\(|@import", document(runs))


def test_only_the_script_of_ours_may_run(run):
    found = Elements(document([run]))
    policy = next(value for name, value in found.attributes if name == "content" and "script-src" in value)
    mark = base64.b64encode(hashlib.sha256(found.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{mark}'" in policy
    assert policy.startswith("default-src 'none'")


def test_names_are_text_and_nothing_else(hostile, named):
    tame = Elements(document([named("tame")]))
    found = Elements(document([hostile]))
    assert set(found.names) <= set(tame.names)
    assert found.names.count("script") == 2
    assert not [name for name, _ in found.attributes if name.startswith("on")]


def test_what_ends_scripts_is_escaped():
    value = ["</script><!--", "a\u2028b\u2029c", "&lt;"]
    text = in_script(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


def test_many_runs_are_one_file_with_an_overview_and_a_comparison(runs, tmp_path):
    text = export(runs, tmp_path / "a.html").read_text()
    found = Elements(text)
    ids = [value for name, value in found.attributes if name == "id"]
    assert {"lead-1", "lead-2", "run-1", "run-2"} <= set(ids)
    assert len(ids) == len(set(ids))
    assert all(run.name in text for run in runs)


def test_a_run_without_steps_has_a_page(tmp_path):
    assert "<h1>nothing yet</h1>" in export(Run(name="nothing yet"), tmp_path / "a.html").read_text()
