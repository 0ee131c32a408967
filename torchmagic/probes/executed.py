"""This file counts in how many training forwards each module of a model runs, while somebody asks."""

from collections.abc import Iterable, Iterator
from types import CodeType, FrameType

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.cut_places import Code
from torchmagic.probes.forwards import Forwards
from torchmagic.probes.hook_codes import hooks_around, hooks_elsewhere
from torchmagic.probes.sites import site_of
from torchmagic.probes.taps import Taps

# Forwards that are followed in a row, and after how many others this is done again.
MOST_FORWARDS, BETWEEN = 12, 500


class Executed:
    """Follows calls of models whose modules are to be counted.

    Args:
        cast: Models that take part.
        code: Learns where models are defined and called.

    Attributes:
        forwards: Whose the forwards of these models are.
    """

    def __init__(self, cast: Cast, code: Code) -> None:
        self._cast, self._code = cast, code
        self.forwards = Forwards(cast)
        self._taps: Taps | None = None
        self._root: nn.Module | None = None
        self._calls: set[int] = set()
        self._counts: dict[str, int] = {}
        self._classes: dict[str, frozenset[str]] = {}
        self._num_seen: dict[int, int] = {}  # by the root that is called

    def attach(self, taps: Taps) -> None:
        """Take note of the taps."""
        self._taps = taps

    def begin(self, module: nn.Module, frame: FrameType) -> None:
        """Follow a call of a model that may be trained."""
        self.end()
        if self._taps is None or not (self._taps.grad_enabled or module.training):
            return
        seen = self._num_seen[id(module)] = self._num_seen.get(id(module), 0) + 1
        if seen % (MOST_FORWARDS + BETWEEN) >= MOST_FORWARDS:
            return
        self.forwards.read()
        self._root, self._calls = module, {id(module)}
        self._taps.collect_calls(self._calls)
        self._code.learn_line(site_of(frame))
        model = self._cast.model_of(module)
        root = model.ref() if model is not None else None
        if model is not None and root is not None and model.name not in self._classes:
            self._code.learn(root)
            self._classes[model.name] = self._code.classes(root)

    def returned(self, module: nn.Module) -> None:
        """Count what ran in the call that is over."""
        if self._root is module:
            for model in self._cast.models:
                for path in {model.paths[each] for each in self._calls if each in model.paths}:
                    self._counts[path] = self._counts.get(path, 0) + 1
            self.end()

    def end(self) -> None:
        """Follow no call any more."""
        if self._root is not None and self._taps is not None:
            self._root = None
            self._taps.collect_calls(None)

    def times(self, path: str) -> int:
        """Return in how many forwards a module, or a part of it, ran."""
        within = f"{path}."
        return max(
            (count for each, count in self._counts.items() if each == path or each.startswith(within)), default=0
        )

    def classes(self, model: str) -> frozenset[str]:
        """Return the user's own classes of which a model is made."""
        return self._classes.get(model, frozenset())

    def hooks(self, path: str, waiting: Iterable[str]) -> tuple[list[CodeType], list[CodeType]]:
        """Return the code of hooks that get the result of a module, and of those that may get it.

        Args:
            path: Path of the module.
            waiting: Names of parameters that never had a gradient.
        """
        parts = list(parts_of(self._cast))
        return hooks_around(path, parts), hooks_elsewhere(path, parts, waiting)


def parts_of(cast: Cast) -> Iterator[tuple[str, nn.Module]]:
    """Yield all modules of the models that take part, each with its path."""
    for model in cast.models:
        yield from model.parts()
