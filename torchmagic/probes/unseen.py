"""This file is how our own trials with the user's code are kept out of the run that is being watched."""

from collections.abc import Iterator
from contextlib import contextmanager

from torchmagic.probes.taps import OPEN
from torchmagic.probes.wrappers import now


@contextmanager
def unseen() -> Iterator[None]:
    """Hide what is done here from all probes; the time counts as spent by torchmagic."""
    hidden, began = [taps for taps in OPEN if not taps.quiet], now()
    for taps in hidden:
        taps.quiet = True
    try:
        yield
    finally:
        for taps in hidden:
            taps.quiet = False
            taps.spent += now() - began
