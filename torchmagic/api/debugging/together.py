"""This file is the debuggers that are alive, asked together: what they counted, to forget it, and how to look."""

from typing import Any

from torchmagic.api.debugging.alive import Group, alive

GROUPS: tuple[Group, ...] = ("training", "diffusion", "general")


def summaries(group: Group) -> list[dict[str, Any]]:
    """Return the debug summary of each debugger of a group that is alive."""
    return [debugger.get_debug_summary() for debugger in alive(group)]


def training_summaries() -> list[dict[str, Any]]:
    """Return the training summary of each training debugger that is alive."""
    return [debugger.get_training_summary() for debugger in alive("training")]


def clear() -> int:
    """Clear the history of all debuggers; return how many there are."""
    found = [debugger for group in GROUPS for debugger in alive(group)]
    for debugger in found:
        debugger.clear_debug_history()
    return len(found)


def set_level(level: str) -> None:
    """Have the debuggers that look at steps of the user's own look at this level; others follow the switches."""
    for debugger in (*alive("training"), *alive("diffusion")):
        debugger.level = level
