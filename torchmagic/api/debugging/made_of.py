"""This file is what a debugger is made of: the configuration that the constructors of all four documents mean."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchmagic.api.debugging.config import DebugConfig
from torchmagic.api.debugging.modes import DebugLevel, DebugMode, member
from torchmagic.debuggers.settings import Anomaly

Given = DebugConfig | Mapping[str, Any] | DebugLevel | str | None


def config_of(given: Given, mode: DebugMode | str | None) -> DebugConfig:
    """Return the configuration that was meant.

    A level alone, or nothing, is ``full_debug`` at that level, or at ``basic``. A mode alone has torch's own
    ``detect_anomaly`` on, and ``full_debug`` alone is at ``expert``. None of these writes operations to a folder. Where
    no whole configuration is given, environment variables set the fields that were not.

    Args:
        given: A configuration, its fields by name, a level, or nothing.
        mode: The mode, which outweighs that of a configuration; None leaves it.

    Raises:
        TypeError: If it is something else; one line.
        ValueError: If a value is wrong; one line.
    """
    chosen = None if mode is None else member(DebugMode, mode, "debug_mode")
    if isinstance(given, Mapping):
        given = DebugConfig.from_dict(given)
    if isinstance(given, DebugConfig):
        return given if chosen is None else replace(given, mode=chosen)
    if isinstance(given, DebugMode):
        raise TypeError(
            f"a level or a DebugConfig is wanted first, {given!r} came; write debug_mode=DebugMode.{given.name}"
        )
    if given is not None and not isinstance(given, str):
        raise TypeError(f"a DebugConfig or a DebugLevel is wanted, {type(given).__name__} came")
    defaults = {"mode": chosen or DebugMode.FULL_DEBUG, "save_debug_info": False}
    if chosen is not None:
        defaults["anomaly_detection_mode"] = Anomaly.DETECT
        defaults["level"] = DebugLevel.EXPERT if chosen is DebugMode.FULL_DEBUG else DebugLevel.BASIC
    config = DebugConfig.from_environment(defaults=defaults)
    config.level = config.level if given is None else member(DebugLevel, given, "level")
    config.mode = config.mode if chosen is None else chosen
    return config
