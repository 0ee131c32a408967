"""This file is the surroundings of a run: versions, devices, random seed, and the git commit of the folder."""

import os
import platform
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import torch

from torchmagic.debuggers.commit import commit_of
from torchmagic.records.note import EnvironmentRecord
from torchmagic.session.ignored_warnings import uncounted_changes
from torchmagic.session.run import Run
from torchmagic.tensors.accelerators import device_names


@uncounted_changes()  # ``platform`` asks a program
def surroundings() -> EnvironmentRecord:
    """Return where a run takes place; nothing here waits for a device, a process or a network."""
    commit = commit_of()
    device, devices = device_names()
    return EnvironmentRecord(
        torch=torch.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        device=device,
        num_threads=torch.get_num_threads(),
        num_cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        devices=devices,
        torchmagic=_version(),
        seed=torch.initial_seed(),
        deterministic=torch.are_deterministic_algorithms_enabled(),
        default_dtype=str(torch.get_default_dtype()).removeprefix("torch."),
        commit=commit.id,
        changed=commit.changed,
    )


def changed_surroundings(run: Run) -> list[EnvironmentRecord]:
    """Return where a run took place once more if it opened a device itself; else nothing."""
    device, devices = device_names()
    before = run.of(EnvironmentRecord)[:1]
    return [replace(each, device=device, devices=devices) for each in before if each.device != device]


def _version() -> str:
    try:
        return version("torchmagic")
    except PackageNotFoundError:  # run from its source
        return ""
