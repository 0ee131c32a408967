"""This file knows which rank of a distributed run this process is, from torch.distributed and what launched it."""

import os
import socket
import sys
import time
import uuid
from typing import Any

import torch
from torch import distributed

from torchmagic.records.ranks import RankRecord

KEY = "torchmagic/launch"
# What launchers set, and who does.
LAUNCHERS = (("ACCELERATE_MIXED_PRECISION", "accelerate"), ("TORCHELASTIC_RUN_ID", "torchrun"))


def is_rank() -> bool:
    """Whether this process belongs to a group of torch.distributed."""
    return distributed.is_available() and distributed.is_initialized()


def will_be_rank() -> bool:
    """Whether a launcher has told this process which rank it is to be."""
    return all(os.environ.get(name, "").isdecimal() for name in ("RANK", "WORLD_SIZE"))


def rank_record(launch: str, *, sequence: int, launcher: str = "") -> RankRecord:
    """Return who this process is.

    Args:
        launch: Id of the launch.
        sequence: Watched runs of this process in this launch before this one.
        launcher: What started the process, where that is known better than by its environment.
    """
    inside = is_rank()
    return RankRecord(
        launch=launch,
        sequence=sequence,
        rank=distributed.get_rank() if inside else _number("RANK", 0),
        world_size=distributed.get_world_size() if inside else _number("WORLD_SIZE", 1),
        local_rank=_number("LOCAL_RANK", -1),
        num_local=_number("LOCAL_WORLD_SIZE", 0),
        host=socket.gethostname(),
        pid=os.getpid(),
        backend=str(distributed.get_backend_config()) if inside else "",
        device=str(torch.cuda.current_device()) if torch.cuda.is_initialized() else "cpu",  # type: ignore[no-untyped-call] # torch
        launcher=launcher or _launcher(),
        wall=time.time(),
        monotonic=time.monotonic(),
    )


def new_launch() -> str:
    """Return an id for a launch; ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:6]}"


def agreed_launch() -> str:
    """Return the id that the ranks of this group share: whichever rank asks first has made it.

    It asks the store by which the group found together, once, and waits for no rank. Where a group has no store, what
    launched it and the hour must do.
    """
    try:
        store: Any = distributed.distributed_c10d._get_default_store()
        return str(store.compare_set(KEY, "", new_launch()).decode())
    except (RuntimeError, ValueError, AttributeError, TypeError):
        return launch_by_environment()


def launch_by_environment() -> str:
    """Return an id of the launch that the processes of one launcher share, whether or not they came together."""
    names = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")
    said = "-".join(os.environ.get(name, "") for name in names)
    plain = "".join(each if each.isalnum() or each in "-." else "-" for each in said)
    return f"{time.strftime('%Y%m%d-%H', time.gmtime())}-{plain}-{os.getppid()}"


def _launcher() -> str:
    for name, launcher in LAUNCHERS:
        if name in os.environ:
            return launcher
    return "ipyparallel" if "ipyparallel.engine" in sys.modules else ""


def _number(name: str, otherwise: int) -> int:
    said = os.environ.get(name, "")
    return int(said) if said.isdecimal() else otherwise
