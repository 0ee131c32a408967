"""This file is the place: a line of the user's code."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line in a cell or file.

    Args:
        file: File name as Python's frames give it; for a cell, the name the shell made up.
        line: 1-based line number.
        source: Text of the line, stripped; empty when it could not be read.
        function: Name of the function around it, ``<module>`` at top level.
    """

    file: str
    line: int
    source: str = ""
    function: str = "<module>"
