"""This file is the forwards: whether the code that is to use a part of a model is the user's or a library's."""

from types import FunctionType

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.sites import is_users_file

# Modules that leave it to the code around them to use what they hold, or use all of it.
CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


class Forwards:
    """Knows whose the forwards of all modules are, of models that are gone by the time somebody asks as well.

    Args:
        cast: Models that take part.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._read: dict[int, Model] = {}
        self._librarys: dict[str, bool | None] = {}  # by path; None for a container

    def read(self) -> None:
        """Take in the models that were not there before."""
        for model in self._cast.models:
            if id(model) not in self._read:
                self._read[id(model)] = model
                self._librarys |= {path: _is_librarys(part) for path, part in model.parts()}

    def are_librarys(self, path: str, *, whole: bool) -> bool:
        """Whether it is a library's forward that is to use a part of a model: that of the module around it.

        Args:
            path: Of the part, or, where it is parameters of a module, of that.
            whole: Whether it is a module.
        """
        self.read()
        around = path.rpartition(".")[0] if whole else path
        while self._librarys.get(around, False) is None:
            around = around.rpartition(".")[0]
        return bool(self._librarys.get(around))


def _is_librarys(module: nn.Module) -> bool | None:
    forward = getattr(type(module), "forward", None)
    if isinstance(module, CONTAINERS):
        return None
    return isinstance(forward, FunctionType) and not is_users_file(forward.__code__.co_filename)
