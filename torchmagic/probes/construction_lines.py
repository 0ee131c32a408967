"""This file is the lines of a construction: where an object was built, and which lines led there."""

from collections.abc import Sequence
from types import FrameType, FunctionType

from torchmagic.analyses.built_lines import LAMBDA, is_returned
from torchmagic.probes.sites import Site, is_users, place_of, source_of
from torchmagic.records.place import Place

# Lines of the user's that are remembered, and frames that are gone through for them.
MOST_LINES, MOST_FRAMES = 4, 64


def lines_of(built: object, frame: FrameType | None) -> tuple[Site, ...]:
    """Return the user's lines that built an object, innermost first; its own constructors are no such lines."""
    constructors = (vars(kind).get("__init__") for kind in type(built).__mro__)
    own = {each.__code__ for each in constructors if isinstance(each, FunctionType)}
    found: list[Site] = []
    for _ in range(MOST_FRAMES):
        if frame is None or len(found) == MOST_LINES:
            break
        if frame.f_code not in own and is_users(frame):
            found.append(Site(frame.f_code, frame.f_lineno))
            if frame.f_code.co_name == "<module>":
                break  # what lies behind runs the cell
        frame = frame.f_back
    return tuple(found)


def places_of(lines: tuple[Site, ...]) -> tuple[Place, ...]:
    """Return lines as records."""
    return tuple(place for line in lines if (place := place_of(line)) is not None)


def builder_of(places: Sequence[Place]) -> Place | None:
    """Return, of the lines that led to a construction, the innermost in whose function the thing is not just returned.

    It may lie in an earlier cell or a file.
    """
    for place in places[:-1]:
        if place.function != LAMBDA and not is_returned(source_of(place.file), place.line):
            return place
    return places[-1] if places else None
