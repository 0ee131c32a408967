"""This file is Sphinx's configuration of the manual: built offline, every warning an error, nothing run."""
# ruff: noqa: INP001

from typing import Any

import torchmagic

project = "torchmagic"
copyright = "torchmagic contributors"  # noqa: A001 - Sphinx's name
version = release = torchmagic.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["files/**"]
html_theme = "furo"
# Letters of outputs as bright as in JupyterLab: on a warm ground the theme's own have too little contrast.
html_theme_options = {"dark_css_variables": {"jp-content-font-color1": "rgba(255, 255, 255, 0.87)"}}
html_title = "torchmagic"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_js_files = [("manual.js", {"defer": "defer"})]
# Anchors as they are beside the code.
myst_heading_anchors = 4
# A stored notebook is shown as it was run. Of its outputs the copy that needs no kernel is taken, so that no page asks
# a server elsewhere for the scripts of a widget.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, object] = {}
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
nb_render_markdown_format = "myst"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Code on pages is highlighted leniently: cells have magics, which are no Python.
highlight_language = "python"
suppress_warnings = ["misc.highlighting_failure"]


def setup(app: Any) -> None:
    """Mend pages after the theme, which listens with the priority 500."""
    app.connect("html-page-context", _level_captions, priority=900)


def _level_captions(_app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Give the captions of the side bar the level that a heading has to have; Sphinx writes none."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
