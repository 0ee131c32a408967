"""This file is the wrappers around a DataLoader's passes and the indices of its batches."""

from typing import Any

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like, now


def wrap_iter(taps: Switchboard, original: Any) -> Any:
    """Wrap ``DataLoader.__iter__``: a pass over the data begins, and how long that took."""

    def __iter__(loader: Any) -> Any:  # noqa: N807 - it takes that name's place
        if taps.quiet:
            return original(loader)
        began = now()
        try:
            iterator = original(loader)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("epoch", loader, iterator, now() - began, frame_at(1))
        return iterator

    return named_like(__iter__, original)


def wrap_next_index(taps: Switchboard, original: Any) -> Any:
    """Wrap ``_next_index``, by which a loader's iterator asks its sampler for the samples of a batch."""

    def _next_index(iterator: Any) -> Any:
        index = original(iterator)
        if not taps.quiet:
            taps.emit("indices", iterator, index)
        return index

    return named_like(_next_index, original)


def wrap_loader_init(taps: Switchboard, original: Any) -> Any:
    """Wrap ``DataLoader.__init__``: the line that makes a loader."""

    def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes that name's place
        try:
            original(loader, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("loader_built", loader, frame_at(1))

    return named_like(__init__, original)
