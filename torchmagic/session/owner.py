"""This file is the owner of a run: which process has it open, and whether that process still lives."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from torchmagic.session.bytelock import lock, lock_shared, unlock

LOCK_FILE = "open-runs.lock"


class _Locks:
    """Locks of single bytes of one file: the byte of a run's number is locked while its process has it open.

    The system takes such a lock from a process that dies, however it dies; a forked child does not inherit it. The
    file is opened once a process, because closing it a second time would give up all locks; with the last one it is
    closed.
    """

    def __init__(self, path: Path) -> None:
        self.process = os.getpid()
        self._path = path
        self._turn = threading.Lock()
        self._held: set[int] = set()
        self._file: int | None = None

    def hold(self, number: int) -> None:
        """Lock a byte, as long as this process lives."""
        with self._open() as file:
            if number not in self._held:
                lock(file, number)
                self._held.add(number)

    def release(self, number: int) -> None:
        """Unlock a byte."""
        if number in self._held:
            with self._open() as file:
                self._held.discard(number)
                unlock(file, number)

    def is_held(self, number: int) -> bool:
        """Whether any process holds a byte."""
        with self._open() as file:
            if number in self._held:
                return True
            try:
                lock_shared(file, number)
            except OSError:
                return True
            unlock(file, number)
            return False

    @contextmanager
    def _open(self) -> Iterator[int]:
        with self._turn:
            if self._file is None:
                self._file = _opened(self._path)
            try:
                yield self._file
            finally:
                if not self._held:
                    os.close(self._file)
                    self._file = None


_locks: dict[Path, _Locks] = {}


def hold(folder: Path, number: int) -> None:
    """Say to other processes that this one has a run open."""
    with suppress(OSError):  # a disk without locks: the process's id and its beginning must do
        _locks_in(folder).hold(number)


def release(folder: Path, number: int) -> None:
    """Take that back."""
    with suppress(OSError):
        _locks_in(folder).release(number)


def this_process() -> str:
    """Return who this process is, as JSON: its machine, its id, and when it began."""
    return json.dumps({"machine": _machine(), "pid": os.getpid(), "began": _beginning(os.getpid())})


def lives(owner: str, folder: Path, number: int) -> bool:
    """Whether the process that opened a run still lives.

    Where the system tells when a process began, that and its id decide: an id is given again, both together never.
    Elsewhere, and for a process of another machine, the lock does.

    Args:
        owner: What ``this_process`` said there; empty where nobody knows.
        folder: Folder of the store.
        number: Number of the run.
    """
    known = _known(owner)
    if known.get("machine") == _machine() and known.get("began") is not None:
        return bool(_beginning(known.get("pid")) == known["began"])
    try:
        return _locks_in(folder).is_held(number)
    except OSError:
        return False


def _known(owner: str) -> dict[str, Any]:
    try:
        known = json.loads(owner)
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}


def _locks_in(folder: Path) -> _Locks:
    locks = _locks.get(folder)
    if locks is None or locks.process != os.getpid():
        locks = _locks[folder] = _Locks(folder / LOCK_FILE)
    return locks


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # a disk that cannot be written: one can still ask
        return os.open(path, os.O_RDONLY)


@cache
def _machine() -> str:
    """Return what sets this machine, since its last start, apart from others, and a container from its host."""
    parts = [os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def _beginning(pid: Any) -> int | None:
    """Return when a process began, in ticks since the machine did; None where nobody knows, or it has died."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])
