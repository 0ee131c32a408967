"""This file is how pages reach a notebook: as html and text that stay in the file and need nothing else."""

from collections.abc import Mapping, Sequence

from IPython.display import display

from torchmagic.views.page import Page
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.matplotlib import as_png
from torchmagic.views.skins.text import as_text

Bundle = dict[str, str]


def static_bundle(
    pages: Page | Sequence[Page], *, title: str, uid: str, num_rows: int | None = None, text: str = ""
) -> Bundle:
    """Return the copy of a panel that is read where no kernel answers: a reopened notebook, nbconvert, GitHub.

    Beside the live panel of the same ``uid`` it is hidden by the panel's script. Without it, its style hides what
    JupyterLab writes in the panel's place ("Error displaying widget: model not found").

    Args:
        pages: The panel's pages in the order of its tabs.
        title: Heading: the run's name and how it ended.
        uid: The panel's ``uid``.
        num_rows: Most rows of a table to keep; None leaves that to each form.
        text: What those get who cannot show html; empty writes the pages themselves.
    """
    rows = {} if num_rows is None else {"num_rows": num_rows}
    html = as_html(pages, title=title, uid=uid, draw=as_png, **rows)
    return {"text/html": html, "text/plain": text or as_text(pages, title=title, **rows)}


def show(bundle: Mapping[str, str]) -> None:
    """Publish a mimebundle as an output of the running cell."""
    display(dict(bundle), raw=True)  # type: ignore[no-untyped-call]  # IPython leaves it untyped
