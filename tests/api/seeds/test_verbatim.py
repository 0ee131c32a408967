"""The stored examples are those of the documents, word by word; only the module that they import from is another."""

import ast
import re
import textwrap
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent / "examples"
SEEDS = Path(__file__).parents[4] / "shared" / "seeds"
TITLES = {
    "# PyTorch Debugging Tools - Complete Documentation": "tools",
    "# PyTorch Debugging Tools Implementation Summary": "summary",
    "# PyTorch Debugging Guide": "guide",
    "# PyTorch Debugging and Optimization System": "system",
}
# How the documents would build it themselves: methods without their class, which are tested by what they promise.
INSIDES = {"tools": {1, 2, 3, 4, 5, 7, 8, 9, 19}, "summary": {3, 4, 5, 6, 7}, "guide": set(), "system": set()}
FENCE = re.compile(r"^( *)```\w*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^(?:from \S+ )?import .*$", re.MULTILINE)

beside = pytest.mark.skipif(not SEEDS.exists(), reason="the four documents are not beside this checkout")


def documents():
    """Return the code blocks of each document, in order."""
    texts = [path.read_text(encoding="utf-8") for path in SEEDS.glob("*.txt")]
    return {TITLES[text.lstrip().partition("\n")[0].strip()]: blocks(text) for text in texts}


def blocks(text):
    return [textwrap.dedent(found[2]) for found in FENCE.finditer(text)]


def stripped(text):
    return [line.rstrip() for line in IMPORT.sub("", text).strip().splitlines()]


def imported(text):
    """Return the names that a text imports; whole blocks of comments have no syntax tree, and no imports either."""
    lines = "\n".join(IMPORT.findall(text))
    return [alias.name for node in ast.walk(ast.parse(lines)) if hasattr(node, "names") for alias in node.names]


def stored():
    return sorted(path for path in EXAMPLES.rglob("*") if path.is_file() and path.parent.name in TITLES.values())


@pytest.mark.parametrize("path", stored(), ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.corpus
@beside
def test_an_example_is_that_of_its_document(path):
    theirs = documents()[path.parent.name][int(path.stem[:2]) - 1]
    ours = path.read_text(encoding="utf-8")
    assert stripped(ours) == stripped(theirs)
    assert imported(ours) == imported(theirs)


@pytest.mark.corpus
@beside
def test_every_block_of_the_documents_is_stored_but_for_their_insides():
    numbers = {name: {int(path.stem[:2]) for path in stored() if path.parent.name == name} for name in INSIDES}
    for name, found in documents().items():
        assert set(range(1, len(found) + 1)) - numbers[name] == INSIDES[name], name


def test_examples_import_from_torchmagic_alone():
    for path in stored():
        for line in IMPORT.findall(path.read_text(encoding="utf-8")) if path.suffix == ".py" else ():
            assert line.startswith("from torchmagic import "), f"{path.name}: {line}"


def test_every_example_is_run_by_a_test():
    tests = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for path in stored():
        assert f'"{path.parent.name}/{path.stem[:2]}"' in tests, path
