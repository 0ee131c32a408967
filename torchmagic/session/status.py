"""This file is the status of a run: how it stands or ended."""

from enum import StrEnum


class Status(StrEnum):
    """How a run stands or ended."""

    RUNNING = "running"
    OK = "ok"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    LOST = "lost"  # its process died while it ran; told on reading, never written
