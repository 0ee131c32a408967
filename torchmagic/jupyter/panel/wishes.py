"""This file is the wish for other settings, as the panel's controls say it: a level, or one probe on or off."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchmagic.debuggers.settings import PROBES, Level, Settings
from torchmagic.debuggers.switches import switched


def wished(settings: Settings, wish: Mapping[str, Any]) -> Settings:
    """Return the settings that a wish makes of those in force; the same where it asks for what does not exist.

    Args:
        settings: What is in force.
        wish: ``{"level": name}``, or ``{"probe": name, "on": bool}``.
    """
    level, probe = wish.get("level"), wish.get("probe")
    if level in tuple(Level):
        return replace(settings, level=Level(level))
    return switched(settings, [probe], on=bool(wish.get("on"))) if probe in PROBES else settings


def watched(settings: Settings) -> dict[str, Any]:
    """Return what is in force as the panel's controls show it: ``{"level": name, "probes": {name: bool}}``."""
    return {"level": settings.level.value, "probes": {probe: settings.watches(probe) for probe in PROBES}}
