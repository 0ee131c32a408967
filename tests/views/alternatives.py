"""This file is the search for pictures that are not told in words."""

import pytest


def untold(html):
    """Return the pictures of a document of which a reader who cannot see them hears nothing.

    An image has an alternative text, a drawing a name or a title, and a figure a caption.
    """
    reader = pytest.importorskip("bs4", reason="beautifulsoup4 is not installed: pip install torchmagic[dev]")
    tree = reader.BeautifulSoup(html, "html.parser")
    silent = [each for each in tree.find_all("img") if not each.get("alt", "").strip()]
    drawn = tree.find_all(lambda tag: tag.get("role") == "img" or (tag.name == "svg" and not tag.get("aria-hidden")))
    silent += [each for each in drawn if not (each.get("aria-label") or _text(each, "title"))]
    silent += [each for each in tree.find_all("figure") if not _text(each, "figcaption")]
    return [str(each)[:120] for each in silent]


def _text(element, part):
    found = element.find(part)
    return found.get_text(strip=True) if found else ""
