"""This file is the arrival of a module: a call as soon as a program has imported it, and not before.

What a program sets before its import, such as ``OMP_NUM_THREADS``, then holds as without us; and one that never imports
it pays nothing.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Context = AbstractContextManager[None]


class Arrival:
    """Calls a function once a module is there.

    Args:
        then: The function; it is called at once where the module is there already.
        name: The module's.
        during: Makes the context in which it is loaded.
    """

    def __init__(
        self, then: Callable[[], None], name: str = "torch", during: Callable[[], Context] = nullcontext
    ) -> None:
        self._then: Callable[[], None] | None = then
        self._name, self._during = name, during

    def wait(self) -> None:
        """Look out for the module from now on."""
        if self._name in sys.modules:
            self._arrived()
        else:
            sys.meta_path.insert(0, self)

    def leave(self) -> None:
        """Look out no more; safe to call twice."""
        self._then = None
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module as the finders behind this one do; who only asks where it is imports nothing."""
        if name != self._name:
            return None
        finders = tuple(sys.meta_path)
        others = finders[finders.index(self) + 1 :]
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)
            with self._during():
                execute(module)
            self._arrived()

        loader.exec_module = exec_module

    def _arrived(self) -> None:
        then = self._then
        self.leave()
        if then is not None:
            then()
