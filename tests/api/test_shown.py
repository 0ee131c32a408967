"""What a view comes back as shows itself wherever it is looked at, and text of the user's stays text."""

from torchmagic.api.shown import Shown
from torchmagic.views.page import Page, Table, Text

PAGE = Page(title="Runs", blocks=[Text(text="<b>bold</b>"), Table(columns=("name",), rows=[("<script>1</script>",)])])


def test_it_prints_as_text_under_its_title():
    shown = Shown(pages=[PAGE], title="All of them")
    assert str(shown).startswith("All of them")
    assert "<script>1</script>" in str(shown)
    assert repr(shown) == str(shown)


def test_a_notebook_gets_text_and_html_in_which_names_are_escaped():
    bundle = Shown(pages=[PAGE])._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "&lt;script&gt;1&lt;/script&gt;" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert bundle["text/html"] == Shown(pages=[PAGE])._repr_html_()


def test_only_what_is_asked_for_is_drawn():
    shown = Shown(pages=[PAGE])
    assert set(shown._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(shown._repr_mimebundle_(exclude={"text/plain"})) == {"text/html"}
