"""This file is a namespace that is borrowed: some names mean copies for a while, and then what they meant before."""

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def borrowed(namespace: dict[str, Any], names: dict[str, Any]) -> Iterator[None]:
    """Let names of a namespace mean other values.

    Args:
        namespace: The user's; in the end it is as it was, whatever was bound, rebound or deleted meanwhile.
        names: What they mean meanwhile. In the end it holds all that was bound otherwise than before.
    """
    before = dict(namespace)
    namespace.update(names)
    try:
        yield
    finally:
        after = {name: value for name, value in namespace.items() if name not in before or before[name] is not value}
        names.clear()
        names.update(after)
        for name in [name for name in namespace if name not in before]:
            del namespace[name]
        namespace.update(before)
