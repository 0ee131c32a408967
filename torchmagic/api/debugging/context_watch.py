"""This file is what a context is watched by: a run of its own, a run that goes on, or nothing."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from torchmagic.api.debugging.config import DebugConfig
from torchmagic.api.debugging.pace import due_probes
from torchmagic.debuggers.settings import PROBES, Anomaly, Settings
from torchmagic.debuggers.switches import switched, switches
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.sites import user_frame
from torchmagic.session.run import Run
from torchmagic.session.session import session


class How(StrEnum):
    """How closely a context is watched."""

    WHOLE = "whole"  # by all that the configuration asks for
    PACED = "paced"  # by what is due at the so many-th of its name
    DETECTING = "detecting"  # whole, with torch's own anomaly detection
    BARE = "bare"  # not at all: only time and memory are measured


# How a value that is not finite ends an operation; a run that goes on and does not do that cannot stand in for one.
_LOUD = (Anomaly.RAISE, Anomaly.DETECT, Anomaly.WARN)
_SWITCHED = ("level", "only", "also", "without")


def settings_of(config: DebugConfig, operation: str, *, how: How, number: int, saves: bool) -> Settings:
    """Return how a context is watched, with what the user has switched on and off.

    Args:
        config: What is asked for.
        operation: What the run is called.
        how: How closely.
        number: How many contexts of this name there were.
        saves: Whether the run is written as it goes on.
    """
    probes = due_probes(config, number) if how is How.PACED else config.probes
    settings = config.settings(name=operation, probes=probes)
    settings = replace(settings, **switches.over(_fields(settings)), save=saves)
    if how is not How.DETECTING:
        return settings
    return switched(replace(settings, anomaly=Anomaly.DETECT), ["anomaly"], on=True)


def watched_by(settings: Settings) -> tuple[Watch | None, Run | None]:
    """Return a watch that is to be opened; or the run that goes on and sees all that is wanted; or neither.

    Args:
        settings: What is wanted; without any probe nothing is opened.
    """
    wanted = [name for name in PROBES if settings.watches(name)]
    if not wanted:
        return None, None
    running = switches.running
    if running is not None and all(running.wanted.watches(name) for name in wanted):
        is_loud = settings.anomaly in _LOUD and settings.watches("anomaly")
        if not is_loud or running.wanted.anomaly is settings.anomaly:
            return None, running.run
    frame = user_frame(sys._getframe(1))  # noqa: SLF001 - the names of the code that opens the context
    return Watch(settings, namespace={} if frame is None else frame.f_globals, session=session), None


def status_of(config: DebugConfig) -> dict[str, bool]:
    """Return for each probe whether it takes part: in the run that goes on, or else in the next context."""
    return switches.status(_fields(config.settings()))


def _fields(settings: Settings) -> Mapping[str, Any]:
    return {name: getattr(settings, name) for name in _SWITCHED}
