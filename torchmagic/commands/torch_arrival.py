"""This file is the arrival of torch: a call as soon as a program has imported it, and not before.

What a program sets before its import, such as ``OMP_NUM_THREADS``, then holds as without us; and one that never imports
torch pays nothing.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Arrival:
    """Calls a function once torch is there.

    Args:
        then: The function; it is called at once where torch is there already.
    """

    def __init__(self, then: Callable[[], None]) -> None:
        self._then: Callable[[], None] | None = then

    def wait(self) -> None:
        """Look out for torch from now on."""
        if "torch" in sys.modules:
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
        """Find torch as the finders behind this one do; who only asks where it is imports nothing."""
        if name != "torch":
            return None
        others = (finder for finder in tuple(sys.meta_path) if finder is not self)
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            self._arrived()

        loader.exec_module = exec_module

    def _arrived(self) -> None:
        then = self._then
        self.leave()
        if then is not None:
            then()
