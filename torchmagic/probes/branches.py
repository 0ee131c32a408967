"""This file finds a step that the code has in a branch that was never taken."""

from torchmagic.analyses.source_calls import steps_in_branches
from torchmagic.analyses.source_lines import line_at
from torchmagic.probes.sites import Site, source_of
from torchmagic.records.place import Place


def step_in_branch(site: Site | None, optimizer: str) -> Place | None:
    """Return the line that would step an optimizer in a branch, in the file in which the backward stands."""
    if site is None:
        return None
    file = site.code.co_filename
    source = source_of(file)
    line = next(iter(steps_in_branches(source, optimizer)), None)
    return None if line is None else Place(file=file, line=line, source=line_at(source, line))
