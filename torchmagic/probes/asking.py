"""This file asks the user's own objects: what code of theirs answers, which may raise anything."""

from typing import Any


def asked(value: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of an object, which its class may compute or pass on; the default where there is none."""
    try:
        return getattr(value, name, default)
    except Exception:  # noqa: BLE001 - the code of whoever made it
        return default


def length_of(value: Any) -> int | None:
    """Return how long something is; None where it does not tell, as an endless stream."""
    try:
        return len(value)
    except Exception:  # noqa: BLE001 - the same
        return None
