"""This file is what a field of a debugger's configuration may hold, and how a variable's text is read as such."""

from pathlib import Path
from typing import Any

from torchmagic.api.debugging.modes import DebugLevel, DebugMode, member
from torchmagic.debuggers.settings import Anomaly

_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_FREQUENCY = "_frequency"


def checked(name: str, value: Any) -> Any:
    """Return the value of a field as it is kept.

    Raises:
        ValueError: If it is none that the field may hold; one line.
    """
    if name == "mode":
        return member(DebugMode, value, name)
    if name == "level":
        return member(DebugLevel, value, name)
    if name == "anomaly_detection_mode":
        return member(Anomaly, value, name).value
    if name == "debug_output_dir":
        return _folder(name, value)
    if name.endswith(_FREQUENCY):
        return _count(name, value)
    if not isinstance(value, bool):
        wanted = f"{name} must be True or False, got {value!r}"
        raise ValueError(wanted)  # noqa: TRY004 - as all wrong settings
    return value


def read(variable: str, name: str, text: str) -> Any:
    """Return what the text of an environment variable stands for.

    Args:
        variable: Its name, for the error.
        name: The field that it sets.
        text: Its text.

    Raises:
        ValueError: If the text is none that the field may hold; one line.
    """
    text = text.strip()
    if name.endswith(_FREQUENCY):
        return _count(variable, int(text) if text.isdecimal() else text)
    if name in ("mode", "level", "anomaly_detection_mode", "debug_output_dir"):
        return text
    if text.lower() not in _WORDS:
        raise ValueError(f"{variable} must be one of {', '.join(_WORDS)}, got {text!r}")
    return _WORDS[text.lower()]


def _count(name: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"{name} must be a whole number from 1 on, got {value!r}")
    return value


def _folder(name: str, value: Any) -> str:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError(f"{name} must be the path of a folder, got {value!r}")
    return str(value)
