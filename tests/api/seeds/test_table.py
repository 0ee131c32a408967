"""The table of the four documents is whole, and what it names is there."""

import ast
import importlib
import inspect
import json
import re
import textwrap
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import torchmagic

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "seeds.md"
SEEDS = ROOT.parent / "shared" / "seeds"
COLUMNS = 4
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
# What the documents call the objects of theirs whose attributes they use.
OBJECTS = (
    "self|debugger|debug_manager|engine|logger|training_logger|robust_ops|model_inference|error_system|error_tracker"
    "|debug_info|info|tensor_info|result|metrics"
)
# Names that are those of Python and torch: loggers, figures, tensors.
THEIRS = {"debug", "info", "warning", "error", "value", "items", "append"}
LIBRARIES = {"torch", "plt", "fig", "nn", "axes", "datetime", "np", "max", "min"}


def rows():
    """Return the cells of each row of the page's tables."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if not set(row[0]) <= {"-", ":"} and row[1] != "lives in"]


def told():
    """Return every word that the page has between backticks, and its whole text in small letters."""
    text = PAGE.read_text(encoding="utf-8")
    return {word for span in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", span)}, text.lower()


def test_every_row_says_where_how_it_is_tested_and_what_differs():
    assert len(rows()) > 150
    for row in rows():
        assert len(row) == COLUMNS, row
        assert all(row[:3]), row


def found(dotted):
    """Return whether a public name or a module's name stands for something."""
    thing = torchmagic
    parts = dotted.split(".")[1:]
    for place, part in enumerate(parts):
        if hasattr(thing, part):
            thing = getattr(thing, part)
        else:
            return has_member(thing, part) and place == len(parts) - 1
    return True


def has_member(thing, name):
    """Return whether a class has a field, or its objects an attribute, of this name."""
    if not inspect.isclass(thing):
        return False
    if is_dataclass(thing) and name in {field.name for field in fields(thing)}:
        return True
    sources = [inspect.getsource(each) for each in thing.__mro__ if each.__module__.startswith("torchmagic")]
    return any(re.search(rf"\bself\.{name}\b(?:: [^=\n]+)? = ", source) for source in sources)


def named():
    """Return the names below ``torchmagic`` that the second column tells."""
    spans = {span for row in rows() for span in re.findall(r"`(torchmagic[\w.]*)`", row[1])}
    return sorted(spans)


@pytest.mark.parametrize("name", named() if PAGE.exists() else [])
def test_every_name_that_the_table_gives_is_there(name):
    if found(name):
        return
    module, _, last = name.rpartition(".")
    assert hasattr(importlib.import_module(module), last) or importlib.util.find_spec(name), name


def test_every_file_that_the_table_names_is_there():
    for row in rows():
        for cell in row[1:]:
            for path in re.findall(r"`((?:tests|docs|torchmagic|benchmarks|notebooks)/[\w./-]+)`", cell):
                assert (ROOT / path).exists(), f"{row[0]}: {path}"


def test_every_row_names_a_test_or_says_that_there_is_none():
    for row in rows():
        assert "`tests/" in row[2] or "`benchmarks/" in row[2] or row[2].startswith("not tested: "), row


def texts():
    return [path.read_text(encoding="utf-8") for path in sorted(SEEDS.glob("*.txt"))]


def blocks(text, *kinds):
    return [textwrap.dedent(each[3]) for each in BLOCK.finditer(text) if each[2] in kinds]


def defined(code):
    """Return what a piece of Python of the documents names: classes, functions, fields, members, keys, attributes."""
    names = set(re.findall(r"\b(?:class|def) (\w+)", code))
    names |= set(re.findall(r"^    (\w+): [\w.\[\], ]+ = ", code, re.MULTILINE))
    names |= set(re.findall(r"^    ([A-Z_]+) = ", code, re.MULTILINE))
    names |= set(re.findall(r"\[[\"'](\w+)[\"']\]", code)) | set(re.findall(r"^\s+'(\w+)': ", code, re.MULTILINE))
    names |= {name for name in re.findall(rf"\b(?:{OBJECTS})\.(\w+)", code) if not name.startswith("_")} - THEIRS
    return names | arguments(code)


def arguments(code):
    """Return the names of arguments in calls of what is not a library's, as far as the code can be read."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    ours = [call for call in calls if ast.unparse(call.func).partition(".")[0].partition("[")[0] not in LIBRARIES]
    return {keyword.arg for call in ours for keyword in call.keywords if keyword.arg}


def keys(value):
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys(each) for each in value.values()))


@pytest.mark.corpus
@pytest.mark.skipif(not SEEDS.exists(), reason="the four documents are not beside this checkout")
def test_the_table_tells_every_name_of_the_documents():
    words, _ = told()
    wanted = set()
    for text in texts():
        wanted = wanted.union(*(defined(code) for code in blocks(text, "python")))
        wanted = wanted.union(*(keys(json.loads(block)) for block in blocks(text, "json")))
        wanted |= set(re.findall(r"\b\w+Mode\.([A-Z_]+)", text))
    assert len(wanted) > 150
    assert sorted(wanted - words) == []


@pytest.mark.corpus
@pytest.mark.skipif(not SEEDS.exists(), reason="the four documents are not beside this checkout")
def test_the_table_tells_every_endpoint_of_the_documents():
    _, page = told()
    endpoints = {line for text in texts() for line in re.findall(r"^(?:GET|POST) /\S+$", text, re.MULTILINE)}
    assert len(endpoints) == 4
    for endpoint in endpoints:
        assert endpoint.replace("/advanced", "/{level}").lower() in page


@pytest.mark.corpus
@pytest.mark.skipif(not SEEDS.exists(), reason="the four documents are not beside this checkout")
def test_the_table_tells_every_claim_of_the_documents():
    _, page = told()
    claims = {
        claim.strip("`: ")
        for text in texts()
        for claim in re.findall(r"^ *(?:-|\d+\.|###) (?:\S+ )?\*\*([^*\n]+)\*\*", text, re.MULTILINE)
    }
    labels = {"Implementation", "Purpose", "Configuration", "Features", "Metrics", "Warning", "Benefits", "Symptoms"}
    labels |= {"When to use", "File", "Coverage", "Format", "Level"}  # of a claim's lines, not claims themselves
    assert len(claims - labels) > 80
    assert sorted(claim for claim in claims - labels if claim.lower() not in page) == []
