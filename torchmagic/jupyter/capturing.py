"""This file is what keeps user code from the screen while the notebook goes on talking to the kernel."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.utils.capture import capture_output


class _Publisher(CapturingDisplayPublisher):
    """Takes in what is displayed, and may be told whose it is."""

    def set_parent(self, parent: Any) -> None:
        """Hear which message is answered now, and do nothing with it: what is displayed goes nowhere."""


@contextmanager
def quietly(shell: Any) -> Iterator[None]:
    """Keep what is printed and displayed from the screen.

    IPython's own way leaves a shell in which no message can be handled: each one that the notebook sends meanwhile,
    such as that of a panel which is alive, tells the publisher whose it is, and IPython's has no ear for it. The
    message is lost, and a traceback of the kernel's stands under the cell.

    Args:
        shell: The shell whose display is kept quiet.
    """
    with capture_output():
        publisher, shell.display_pub = shell.display_pub, _Publisher()  # type: ignore[no-untyped-call] # IPython's
        try:
            yield
        finally:
            shell.display_pub = publisher
