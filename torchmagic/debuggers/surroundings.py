"""This file is the surroundings of a run: versions, devices, random seed, and the git commit of the folder."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import torch

from torchmagic.debuggers.commit import commit_of
from torchmagic.records.note import EnvironmentRecord


def surroundings() -> EnvironmentRecord:
    """Return where a run takes place; nothing here waits for a device, a process or a network."""
    commit = commit_of()
    return EnvironmentRecord(
        torch=torch.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        device=torch.cuda.get_device_name() if torch.cuda.is_initialized() else "cpu",  # type: ignore[no-untyped-call] # torch
        num_threads=torch.get_num_threads(),
        num_cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        devices=_devices(),
        torchmagic=_version(),
        seed=torch.initial_seed(),
        deterministic=torch.are_deterministic_algorithms_enabled(),
        default_dtype=str(torch.get_default_dtype()).removeprefix("torch."),
        commit=commit.id,
        changed=commit.changed,
    )


def _devices() -> tuple[str, ...]:
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch; asking would open the devices
        return ()
    return tuple(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))


def _version() -> str:
    try:
        return version("torchmagic")
    except PackageNotFoundError:  # run from its source
        return ""
