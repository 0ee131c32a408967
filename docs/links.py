"""This file mends links and pictures: pages are written to be read beside the code, and are read in the manual too."""
# ruff: noqa: INP001

import os
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Pages of the manual that are called otherwise, or lie elsewhere, beside the code.
PLACES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "docs": "index.md",
    "docs/landing.md": "index.md",
    "docs/index.md": "manual.md",
    "docs/api": "api/index.md",
    "docs/decisions": "decisions/index.md",
    "notebooks": "notebooks/index.md",
    "torchmagic/rules": "rules/index.md",
}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|!?\[[^\]]*\])*)\]\(([^)\s]+)\)")
_IMAGE = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+)\)$", re.MULTILINE)
_PICTURE = re.compile(
    r"<picture>\s*<source[^>]*srcset=\"[^\"]+\"[^>]*>\s*"
    r"<img src=\"([^\"]+)\"[^>]*?alt=\"([^\"]*)\"[^>]*>\s*</picture>"
)
_FENCE = re.compile(r"^(```+|~~~+).*?^\1[`~]*$", re.MULTILINE | re.DOTALL)


def place_of(path: str) -> str | None:
    """Return where a file or folder of the project lies in the manual; None for a folder that has no page.

    Args:
        path: From the root of the project, with slashes.
    """
    if path in PLACES:
        return PLACES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("notebooks/") and path.endswith(".ipynb"):
        return path
    return f"files/{path}" if (ROOT / path).is_file() else None


def mended(text: str, page: str, *, carry: Callable[[str], None]) -> str:
    """Return the text of a page with the links and pictures that hold in the manual; code stays as it is.

    Args:
        text: Markdown.
        page: Where it lies in the project, such as ``docs/api/serve.md``.
        carry: Called with each file of the project that is linked and is no page of the manual.
    """
    own = place_of(page) or page

    def moved(target: str) -> str | None:
        path, _, anchor = target.partition("#")
        if not path or re.match(r"\w+:", path):
            return target
        full = os.path.relpath(ROOT / Path(page).parent / path, ROOT).replace(os.sep, "/")
        place = place_of(full)
        if place is None:
            return None
        if place.startswith("files/"):
            carry(full)
        there = os.path.relpath(place, Path(own).parent).replace(os.sep, "/")
        return f"{there}#{anchor}" if anchor else there

    def link(found: re.Match[str]) -> str:
        target = moved(found[2])
        return found[1] if target is None else f"[{found[1]}]({target})"

    def prose(part: str) -> str:
        part = _PICTURE.sub(lambda found: _picture(found[2], found[1], moved, page), part)
        part = _IMAGE.sub(lambda found: _picture(found[1], found[2], moved, page), part)
        return _LINK.sub(link, part)

    parts, at = [], 0
    for fence in _FENCE.finditer(text):
        parts += [prose(text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, prose(text[at:])])


def _picture(alt: str, target: str, moved: Callable[[str], str | None], page: str) -> str:
    """Return a picture; one that is there for light and dark themes is shown in the theme of the reader."""
    dark = target.replace("-light.", "-dark.")
    both = dark != target and (ROOT / Path(page).parent / dark).exists()
    shown = [(target, "only-light"), (dark, "only-dark")] if both else [(target, "")]
    return "\n\n".join(_image(alt, moved(each) or each, theme) for each, theme in shown)


def _image(alt: str, target: str, theme: str) -> str:
    told = [f"```{{image}} {target}", f":alt: {alt}", *([f":class: {theme}"] if theme else []), "```"]
    return "\n".join(told)
