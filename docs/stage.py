"""This file lays the manual out as Sphinx reads it: pages with mended links, notebooks, rules, reference, contents."""
# ruff: noqa: INP001

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from contents import PARTS
from links import ROOT, mended, place_of
from reference import reference_pages

# What is generated has no line of its own in the contents; it stands below the page of its folder.
FOLDERS = {
    "api": "# The debugging API, page by page\n\nEach name with an example that runs; arguments, types and errors of "
    "all of them are in the [reference](../reference/index.md).\n",
    "decisions": "# Decisions\n\nWhy it is built as it is: the context, the choice, and its price.\n",
    "notebooks": "# Notebooks\n\nEach begins with a problem, runs in under two minutes on two cores, and is shown "
    "here as it was run and stored.\n",
}


def stage(folder: Path, rules: Path) -> list[str]:
    """Lay the manual out in a folder, which is made anew; return the names of its pages.

    Args:
        folder: Where to.
        rules: The folder with the pages of the rules, as ``build.py`` writes them.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in (".md", ".png", ".svg", ".json") and "__pycache__" not in path.parts:
            _lay(path, folder)
    _lay(ROOT / "CHANGELOG.md", folder)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        _lay(path, folder)
    for path in rules.glob("*.md"):
        # the rules are listed by their index; in the side bar of every page they would hide the rest
        head = "" if path.stem == "index" else "---\norphan: true\n---\n\n"
        _write(folder / "rules" / path.name, head + path.read_text(encoding="utf-8"))
    for name, text in reference_pages():
        _write(folder / "reference" / f"{name}.md", text)
    _contents(folder)
    return sorted(_names(folder))


def _lay(path: Path, folder: Path) -> None:
    """Write one file of the project to its place in the manual."""
    page = path.relative_to(ROOT).as_posix()
    target = folder / (place_of(page) or page)
    if path.suffix not in (".md", ".ipynb"):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        return

    def carry(file: str) -> None:
        copy = folder / "files" / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, copy)

    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        _write(target, mended(text, page, carry=carry))
        return
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = mended("".join(cell["source"]), page, carry=carry)
    _write(target, json.dumps(notebook))


def _contents(folder: Path) -> None:
    """Write the lists of pages: those of the side bar, and those of each folder."""
    names = _names(folder)
    for room, head in FOLDERS.items():
        own = sorted(name.removeprefix(f"{room}/") for name in names if name.startswith(f"{room}/"))
        _write(folder / room / "index.md", f"{head}\n{_tree(own)}")
    here = _names(folder)
    for caption, pages in PARTS:
        _append(folder / "index.md", _tree([page for page in pages if page in here], caption=caption, hidden=True))


def _tree(names: Iterable[str], *, caption: str = "", hidden: bool = False) -> str:
    options = [*([f":caption: {caption}"] if caption else []), ":hidden:" if hidden else ":maxdepth: 1"]
    return "\n".join(["```{toctree}", *options, "", *names, "```", ""])


def _names(folder: Path) -> set[str]:
    found = [path for path in folder.rglob("*") if path.suffix in (".md", ".ipynb")]
    return {path.relative_to(folder).with_suffix("").as_posix() for path in found} - {"files"}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _append(path: Path, text: str) -> None:
    _write(path, f"{path.read_text(encoding='utf-8')}\n{text}")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print(f"{len(stage(target, Path(sys.argv[2])))} pages in {target}")  # noqa: T201 - said to the person who ran it
