"""This file is what an exporter is: its name, the suffixes that ask for it, and what writes the runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchmagic.session.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """One way out.

    Args:
        name: What ``to=`` takes.
        what: What it makes, in a few words.
        write: Writes runs to a path: a new file beside the one asked for, or the folder.
        suffixes: Suffixes that ask for it, the dot included; empty for one that makes a folder.
    """

    name: str
    what: str
    write: Callable[[Sequence[Run], Path], None]
    suffixes: tuple[str, ...] = ()

    @property
    def makes_folder(self) -> bool:
        """Whether it fills a folder; else it writes one file."""
        return not self.suffixes
