"""This file is the panel's pages in a page of their own, without a notebook around them."""

import json

from torchmagic.jupyter.panel.widget import Panel
from torchmagic.views.skins.wire import as_wire

DOCUMENT = """<!doctype html><style>{css}</style><div class="torchmagic-panel"></div><script>{script}
const shown = pageView();
document.querySelector(".torchmagic-panel").append(shown.root);
const update = (page) => shown.update(page);
</script>"""


def bare_document():
    """Return the document that ``shown`` fills."""
    return DOCUMENT.format(css=Panel._css, script=Panel._esm.replace("export default", "const widget ="))


def shown(bare, page):
    """Show a page there, as an update of the one before, and return its place."""
    bare.evaluate("(page) => update(page)", json.loads(json.dumps(as_wire(page))))
    return bare.locator(".torchmagic-panel")
