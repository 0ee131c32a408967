"""This file is what shows itself in a notebook, in a terminal and in print."""

from collections.abc import Callable, Container


class SelfShown:
    """Answers IPython's display protocol and ``print``; a subclass says what its text and its HTML are."""

    __slots__ = ()

    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Answer those who ask for HTML alone."""
        raise NotImplementedError

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Answer IPython's display protocol with text and HTML."""
        makers: dict[str, Callable[[], str]] = {"text/plain": self.__str__, "text/html": self._repr_html_}
        return {
            kind: make()
            for kind, make in makers.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }
