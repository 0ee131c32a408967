"""This file tests that every picture of the manual and of the notebooks is told in words."""

import json
import re
from pathlib import Path

import pytest
from alternatives import untold

ROOT = Path(__file__).parents[2]
TEXTS = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if path.is_file())
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
SEEN = re.compile(r"!\[(.*?)\](?:\(|\[)", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
# What names a file tells nobody what is to be seen in it.
LEAST_WORDS = 3


def pictures(text):
    """Return the alternative texts of markdown's own pictures; those of a badge are short by nature."""
    return SEEN.findall(CODE.sub("", text))


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_picture_of_a_page_is_told(page):
    text = page.read_text(encoding="utf-8")
    assert untold(CODE.sub("", text)) == []
    assert [told for told in pictures(text) if len(told.split()) < LEAST_WORDS] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_picture_of_a_notebook_is_told(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            assert untold(text) == []
            assert [told for told in pictures(text) if len(told.split()) < LEAST_WORDS] == []
        for output in cell.get("outputs", ()):
            assert untold("".join(output.get("data", {}).get("text/html", ""))) == []
            # a bare picture could not say what it shows
            assert not [kind for kind in output.get("data", {}) if kind.startswith("image/")]


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/**/*.svg")), ids=lambda path: path.stem)
def test_every_drawing_has_a_title(path):
    assert untold(path.read_text(encoding="utf-8")) == []


def test_the_search_finds_what_is_not_told():
    assert untold('<img src="a.png" alt=" "><svg></svg><figure><img alt="a"></figure><span role="img">x</span>')
    assert pictures("![](a.png) and `![](b.png)`") == [""]
