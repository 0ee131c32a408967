"""This file is the files in play: those of the user's own that the names of a program lead to."""

import linecache
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from torchmagic.probes.notebook_text import is_cell
from torchmagic.probes.sites import is_users_file


def files_in_play(namespace: Mapping[str, Any]) -> set[str]:
    """Return the user's files that some names, and the names of the modules they lead to, come from; cells left out.

    Args:
        namespace: The user's names.
    """
    main = namespace.get("__file__")
    files = {main} if isinstance(main, str) and is_local_file(main) else set()
    todo, seen = [namespace], set()
    while todo:
        for name in _modules_of(todo.pop()):
            module = sys.modules.get(name)
            file = getattr(module, "__file__", None)
            if name not in seen and isinstance(module, ModuleType) and isinstance(file, str) and is_local_file(file):
                files.add(file)
                todo.append(dict(vars(module)))
            seen.add(name)
    return files


def cells_in_play() -> set[str]:
    """Return the cells that were run in this process, as far as their text is kept."""
    return {file for file in list(linecache.cache) if is_cell(file)}


def is_local_file(file: str) -> bool:
    """Whether a file is one of the user's own, which nobody installed."""
    return file.endswith(".py") and is_users_file(file)


def _modules_of(names: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the modules that values come from, as far as that is known without asking them."""
    for value in list(names.values()):
        if isinstance(value, ModuleType):
            yield value.__name__
        elif type(value) is FunctionType:
            yield str(value.__module__)
            yield str(value.__globals__.get("__name__"))
        else:
            yield str(vars(value).get("__module__") if isinstance(value, type) else type(value).__module__)
