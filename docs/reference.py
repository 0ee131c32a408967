"""This file writes the pages of the reference: every public name, told by its docstring."""
# ruff: noqa: INP001

import inspect
from collections.abc import Iterator
from enum import Enum

from contents import REFERENCE

import torchmagic

# Told by its class, and by a page of its own.
_OBJECTS = {"session": "`torchmagic.session` is the process's {py:class}`~torchmagic.Session`.", "__version__": ""}


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page of the reference, its index last."""
    pages = _by_page()
    for name, title, _ in REFERENCE:
        if pages[name]:
            yield name, "\n".join([f"# {title}", "", *map(_entry, pages[name])])
    shown = [(name, title, pages[name]) for name, title, _ in REFERENCE if pages[name]]
    lists = [f"- [{title}]({name}.md): {', '.join(_linked(each) for each in names)}" for name, title, names in shown]
    head = "# Reference\n\nAll public names of the package, from their docstrings. What is not listed may change"
    tree = "\n".join(["```{toctree}", ":hidden:", "", *(name for name, *_ in shown), "```", ""])
    promise = "without notice ([what is promised](../stability.md))."
    yield "index", "\n".join([f"{head}\n{promise}", "", *lists, "", tree])


def _by_page() -> dict[str, list[str]]:
    pages: dict[str, list[str]] = {name: [] for name, *_ in REFERENCE}
    for public, home in torchmagic._HOMES.items():  # noqa: SLF001 - the table of the public names
        page = next(name for name, _, rooms in REFERENCE if any(home.startswith(room) for room in rooms))
        pages[page].append(public)
    return pages


def _entry(name: str) -> str:
    if name in _OBJECTS:
        return f"{_OBJECTS[name]}\n"
    value = getattr(torchmagic, name)
    if not inspect.isclass(value):
        directive = [f".. autofunction:: torchmagic.{name}"]
    elif issubclass(value, BaseException):
        directive = [f".. autoexception:: torchmagic.{name}"]
    else:
        # the members of an enumeration say what they are by their names
        members = ["   :undoc-members:"] if issubclass(value, Enum) else []
        directive = [f".. autoclass:: torchmagic.{name}", "   :members:", *members]
    return "\n".join([f"## {name}", "", "```{eval-rst}", *directive, "```", ""])


def _linked(name: str) -> str:
    return f"{{py:obj}}`~torchmagic.{name}`"
