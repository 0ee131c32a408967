"""This file looks at classes that have a ``train`` of their own: what it does, and whether a mode was set inside it."""

import inspect
from types import CodeType, FrameType
from typing import NamedTuple

from torch import nn

from torchmagic.probes.sites import Site, is_users_file, place_of, site_of
from torchmagic.records.place import Place
from torchmagic.records.protocol import OwnTrain
from torchmagic.tensors.genuine import is_genuine

# Frames between a call of ``eval`` and torch's own ``train``, which a few classes may override one after the other.
MOST_FRAMES = 32
# What a method asks for that sets the mode of other modules than its own.
_REACHING = frozenset({"train", "eval", "modules", "children", "named_modules", "named_children", "_modules", "apply"})


class Switching(NamedTuple):
    """Where a mode was set.

    Args:
        site: The line; of a class's own ``train`` that was to put it into this mode, the line that called that.
        meant: Whether a class's own ``train`` put parts to sleep as it was to wake the whole.
    """

    site: Site | None
    meant: bool


def switching(frame: FrameType) -> Switching:
    """Return where a part was put into evaluation mode, as the user sees it."""
    outer: FrameType | None = None
    each: FrameType | None = frame
    meant = False
    for _ in range(MOST_FRAMES):
        if each is None:
            break
        mode = _mode_of(each)
        if mode is not None:
            outer, meant = each, mode
        each = each.f_back
    if outer is None:
        return Switching(site_of(frame), meant=False)
    return Switching(site_of(frame if meant else outer.f_back), meant=meant)


def own_train(module: nn.Module) -> tuple[OwnTrain, Place | None]:
    """Return what the ``train`` of a module's class does, and its line where it is the user's own."""
    code = _train_of(type(module))
    if code is None:
        return OwnTrain.NONE, None
    place = place_of(Site(code, code.co_firstlineno))
    if not _is_switch(type(module)):
        return OwnTrain.OTHER, place
    return (OwnTrain.SWITCH if _REACHING & _names(type(module), code) else OwnTrain.ALONE), place


def is_put_to_sleep(module: nn.Module) -> bool:
    """Whether a module is in training mode, and its class's own ``train`` puts parts of it into evaluation mode."""
    code = _train_of(type(module))
    if code is None or not module.training or not _is_switch(type(module)):
        return False
    names = _names(type(module), code)
    return "eval" in names or ("train" in names and False in code.co_consts)


def _train_of(kind: type[nn.Module]) -> CodeType | None:
    code = getattr(inspect.getattr_static(kind, "train", None), "__code__", None)
    return code if isinstance(code, CodeType) and is_users_file(code.co_filename) else None


def _is_switch(kind: type[nn.Module]) -> bool:
    """Whether a class's own ``train`` takes a mode as torch's does, and not data or a number of epochs."""
    function = inspect.getattr_static(kind, "train", None)
    code = function.__code__
    first = code.co_varnames[1:2] if code.co_argcount == 2 else ()  # noqa: PLR2004 - ``self`` and the mode
    return first == ("mode",) or (bool(first) and (function.__defaults__ or (None,))[0] is True)


def _names(kind: type[nn.Module], code: CodeType) -> set[str]:
    """Return what a method names, and what the methods name that it calls."""
    methods = (getattr(inspect.getattr_static(kind, name, None), "__code__", None) for name in code.co_names)
    own = [each for each in methods if isinstance(each, CodeType) and is_users_file(each.co_filename)]
    return {*code.co_names, *(name for each in own if each is not code for name in each.co_names)}


def _mode_of(frame: FrameType) -> bool | None:
    """Return the mode that a frame is to set, where it runs a class's own ``train``; None for any other frame."""
    code = frame.f_code
    if code.co_name != "train" or code.co_argcount < 2 or not is_users_file(code.co_filename):  # noqa: PLR2004
        return None
    owner, mode = (frame.f_locals.get(name) for name in code.co_varnames[:2])
    return mode if is_genuine(owner) and isinstance(owner, nn.Module) and isinstance(mode, bool) else None
