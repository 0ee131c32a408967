"""This file compares a page, as text and as html without its style, with files that a person has read."""

import os
import re
from pathlib import Path

from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.text import as_text

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(pages, name):
    """Compare with ``golden/NAME.txt`` and ``.html``; ``UPDATE_GOLDEN=1`` writes them instead."""
    html = re.sub(r"<style>.*?</style>\n?", "", as_html(pages), flags=re.DOTALL)
    for suffix, text in (("txt", as_text(pages) + "\n"), ("html", html + "\n")):
        path = GOLDEN / f"{name}.{suffix}"
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), path
