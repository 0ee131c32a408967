"""This file is the room that a search is run in: nothing of it is seen by a watched run, or left in the process."""

import contextlib
from collections.abc import Iterator

import torch

from torchmagic.models.streams import untouched_globals
from torchmagic.probes.unseen import unseen


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Hide what is done from probes; put back random number streams, switches, warnings and the number of threads."""
    threads = torch.get_num_threads()
    try:
        with unseen(), untouched_globals():
            yield
    finally:
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
