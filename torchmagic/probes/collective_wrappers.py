"""This file is the wrappers around what ranks do together: collectives, their beginning, and the start of processes."""

import sys
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import multiprocessing

from torchmagic.probes.alone import AloneError
from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like, now

NAMES = (
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_gather_single",
    "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv",
    "broadcast", "broadcast_object_list", "gather", "gather_object", "irecv", "isend", "monitored_barrier", "recv",
    "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor", "scatter",
    "scatter_object_list", "send", "send_object_list", "_broadcast_coalesced",
)  # fmt: skip
# Names that are two of one function, as torch's documentation has it: what FSDP calls is told under the known one.
# The last one is how DDP sends rank 0's buffers to all before a forward.
SAME = {
    "all_gather_single": "all_gather_into_tensor",
    "reduce_scatter_single": "reduce_scatter_tensor",
    "_broadcast_coalesced": "broadcast_coalesced",
}


class Communicating(Switchboard, Protocol):
    """Taps that know whether the code stands in a collective, some of which are made of others."""

    communicating: bool
    alone: bool
    carry: Callable[[Any, int, Any], Any] | None


def wrap_collective(taps: Communicating, original: Any) -> Any:
    """Wrap a function that ranks call together: how long the caller was in it."""
    name = SAME.get(original.__name__, original.__name__)

    def collective(*args: Any, **kwargs: Any) -> Any:
        if taps.alone:
            raise AloneError(name)
        if taps.quiet or taps.communicating or is_compiling():
            return original(*args, **kwargs)
        return _timed(taps, name, original, args, kwargs)

    return named_like(collective, original)


def wrap_wait(taps: Communicating, original: Any) -> Any:
    """Wrap ``Work.wait``, in which the caller of a collective that returned at once waits for its end."""

    def wait(work: Any, *args: Any, **kwargs: Any) -> Any:
        if taps.quiet or taps.communicating or is_compiling():
            return original(work, *args, **kwargs)
        return _timed(taps, "wait", original, (work, *args), kwargs)

    return named_like(wait, original)


def _timed(taps: Communicating, name: str, original: Any, args: Any, kwargs: Any) -> Any:
    frame = frame_at(2)
    taps.communicating = True
    try:
        taps.emit("collective_begin", name)
        began = now() - taps.spent
        result = original(*args, **kwargs)
        taps.emit("collective_end", name, args, kwargs, now() - taps.spent - began, frame)
    except BaseException as error:
        hide_ours(error)
        raise
    finally:
        taps.communicating = False
    return result


def wrap_init(taps: Communicating, original: Any) -> Any:
    """Wrap ``init_process_group``, from which on this process is a rank, and what it calls when it is one.

    Scripts import the first by name, so that the wrapper stands in its old place only; the other is torch's own.
    """

    def begin(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("ranked")
        return result

    return named_like(begin, original)


def wrap_start_processes(taps: Communicating, original: Any) -> Any:
    """Wrap ``torch.multiprocessing.start_processes``: what it starts is watched like what started it."""

    def start_processes(fn: Any, args: Any = (), nprocs: int = 1, *rest: Any, **kwargs: Any) -> Any:
        carried = fn
        if taps.carry is not None and not taps.quiet:
            carried = taps.carry(fn, nprocs, frame_at(1))
        try:
            return original(carried, args, nprocs, *rest, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise

    return named_like(start_processes, original)


def _places() -> tuple[tuple[Any, str], ...]:
    """Return where the collectives are called by name: their own file, and the package that offers them."""
    if not torch.distributed.is_available():
        return ()
    own = torch.distributed.distributed_c10d
    return tuple((owner, name) for name in NAMES for owner in (own, torch.distributed) if hasattr(owner, name))


def _waits() -> tuple[tuple[Any, str], ...]:
    return ((torch.distributed.distributed_c10d.Work, "wait"),) if torch.distributed.is_available() else ()


def _inits() -> tuple[tuple[Any, str], ...]:
    if not torch.distributed.is_available():
        return ()
    own = torch.distributed.distributed_c10d
    public = (own, "init_process_group"), (torch.distributed, "init_process_group")
    return (*public, (own, "_update_default_pg"))


COLLECTIVES, WAITS, INITS = _places(), _waits(), _inits()
STARTS: tuple[tuple[Any, str], ...] = (
    (multiprocessing, "start_processes"),
    (sys.modules["torch.multiprocessing.spawn"], "start_processes"),  # the package has a function of its name
)
