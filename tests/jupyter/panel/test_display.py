"""This file is the mimebundles that stay in the notebook file."""

from torchmagic.jupyter.display import static_bundle
from torchmagic.views.page import Line, Page, Plot, Text

PAGE = Page(
    title="Curves", blocks=[Text(text="x"), Plot(title="Loss", lines=[Line(name="a", steps=[0, 1], values=[2, 1])])]
)


def test_a_bundle_has_html_with_pictures_and_text():
    bundle = static_bundle(PAGE, title="", uid="")
    assert set(bundle) == {"text/html", "text/plain"}
    assert 'src="data:image/png;base64,' in bundle["text/html"]
    assert "█▁" in bundle["text/plain"]


def test_the_static_copy_can_be_found_by_its_panel():
    bundle = static_bundle([PAGE], title="lr sweep: done", uid="c0ffee")
    assert 'data-torchmagic-static="c0ffee"' in bundle["text/html"]
    assert bundle["text/plain"].startswith("lr sweep: done\n══════════════\n")
