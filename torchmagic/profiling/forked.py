"""This file runs work in a process forked off this one: of what it does there, nothing is left here but its answer."""

import gc
import json
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from torchmagic.session.ignored_warnings import ignored_warnings

READ = 1 << 16


class UnansweredError(RuntimeError):
    """The work gave no answer; the message says why."""


def cannot_fork() -> str:
    """Return why no process can be forked off here; empty where one can."""
    if sys.platform != "linux":
        return "a process can be forked off on Linux only"
    return "an accelerator cannot be used in a process that is forked off" if torch.cuda.is_initialized() else ""  # type: ignore[no-untyped-call] # torch


def forked(work: Callable[[], Any], *, patience: float) -> Any:
    """Return what work returns; it runs in a copy of this process as it is now.

    The copy writes to no terminal and is gone when this returns or raises, with all that it has started.

    Args:
        work: Returns plain values, as JSON can hold them.
        patience: Seconds that it may take.

    Raises:
        UnansweredError: If it raises, dies or takes longer.
        OSError: If there is no room for another process.
    """
    reading, writing = os.pipe()
    child = 0
    try:
        with ignored_warnings(DeprecationWarning):  # of threads, which the copy does not have
            child = os.fork()
        if not child:
            _work_and_end(work, writing)
        os.close(writing)
        answer = _read(reading, patience)
    finally:
        os.close(reading)
        if child:
            _end(child)
    if not answer:
        raise UnansweredError("its process ended without an answer")
    known = json.loads(answer)
    if "error" in known:
        raise UnansweredError(known["error"])
    return known["answer"]


def _work_and_end(work: Callable[[], Any], writing: int) -> None:
    """Be the copy: work in a thread of its own, for the threads that operators are divided among stayed behind."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.disable()  # what it would free may close what belongs to the other process
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        sys.stdout = sys.stderr = open(nowhere, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - ends with all this
        num_threads, answers = torch.get_num_threads(), [""]
        thread = threading.Thread(target=_answer, args=(work, num_threads, answers))
        thread.start()
        thread.join()
        with open(writing, "w", encoding="utf-8") as pipe:
            pipe.write(answers[0])
    finally:
        os._exit(0)


def _answer(work: Callable[[], Any], num_threads: int, answers: list[str]) -> None:
    try:
        warnings.simplefilter("ignore")  # nobody would read them
        torch.set_num_threads(num_threads)
        answers[0] = json.dumps({"answer": work()})
    except BaseException as error:  # noqa: BLE001 - the user's model, or the compiler; told to the process that asked
        answers[0] = json.dumps({"error": f"{type(error).__name__}: {error}".strip().partition("\n")[0]})


def _read(reading: int, patience: float) -> str:
    parts: list[bytes] = []
    until = time.monotonic() + patience
    while True:
        if not select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
            raise UnansweredError(f"it took longer than {patience:.0f} s")
        part = os.read(reading, READ)
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


def _end(child: int) -> None:
    """End the copy and what it has started, such as a compiler."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):  # somebody else has waited for it
        os.waitpid(child, 0)
