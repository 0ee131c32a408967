"""This file is what frames of ours look like to whoever counts or shows frames: left out, or as the ones of torch's.

A warning of the user's or of torch's says how many frames above it the line is that it is about, and is shown or not by
that line; one frame of ours in between, and it is another line.
"""

from collections.abc import Iterator
from dis import get_instructions
from types import CodeType, FunctionType
from typing import Any

# In the name of a file, what has ``warnings`` and ``logging`` leave its frames out where they count.
_UNCOUNTED = " (left out where frames are counted, as importlib._bootstrap is)"
# Of the table that tells an instruction's place (CPython's ``code.rst``): instructions in an entry, and kinds of entry.
_MOST_UNITS, _WITHOUT_COLUMNS, _LONG = 8, 13, 14
# By the identity of code, which is kept beside what was made of it.
_uncounted: dict[int, tuple[CodeType, CodeType]] = {}
_placed: dict[tuple[int, int], tuple[CodeType, CodeType, CodeType]] = {}


def uncounted(code: CodeType) -> CodeType:
    """Return code whose frames do not count where a warning counts frames; the same for the same code."""
    known = _uncounted.get(id(code))
    if known is None:
        if code.co_filename.endswith(_UNCOUNTED):
            return code
        known = _uncounted[id(code)] = code, code.replace(co_filename=code.co_filename + _UNCOUNTED)
    return known[1]


def in_place_of(wrapper: FunctionType, original: FunctionType) -> FunctionType:
    """Return a wrapper that does all that a function of torch's does, as that function: at its last call, in its file.

    Warnings, tracebacks and whoever else looks at frames find what they would find without us.
    """
    key = id(wrapper.__code__), id(original.__code__)
    if key not in _placed:
        _placed[key] = wrapper.__code__, original.__code__, _at_last_call(wrapper.__code__, original.__code__)
    names, theirs = wrapper.__globals__, original.__globals__
    registry = theirs.setdefault("__warningregistry__", {})  # as the first warning there does
    scope = {**names, "__name__": theirs["__name__"], "__warningregistry__": registry}
    placed = FunctionType(_placed[key][2], scope, original.__name__, wrapper.__defaults__, wrapper.__closure__)
    placed.__qualname__, placed.__doc__ = original.__qualname__, original.__doc__
    return placed


def argument_names(function: Any) -> tuple[str, ...]:
    """Return the names of the arguments of a function that is written in Python; none of another one."""
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if isinstance(code, CodeType) else ()


def _at_last_call(code: CodeType, original: CodeType) -> CodeType:
    calls = [each.positions for each in get_instructions(original) if each.opname.startswith("CALL")]
    place = calls[-1] if calls else None
    line = place.lineno if place is not None and place.lineno is not None else original.co_firstlineno
    columns = (place.col_offset, place.end_col_offset) if place is not None else (None, None)
    return code.replace(
        co_filename=original.co_filename,
        co_firstlineno=original.co_firstlineno,
        co_name=original.co_name,
        co_qualname=original.co_qualname,
        co_linetable=bytes(_table(len(code.co_code) // 2, line - original.co_firstlineno, *columns)),
    )


def _table(num_units: int, line: int, column: int | None, end: int | None) -> Iterator[int]:
    """Yield the table of places in which each instruction has the same."""
    for done in range(0, num_units, _MOST_UNITS):
        units = min(_MOST_UNITS, num_units - done)
        further = line if not done else 0  # lines after the entry before; the sign is the last bit
        if column is None or end is None:
            yield 0x80 | _WITHOUT_COLUMNS << 3 | units - 1
            yield from _number(further << 1)
        else:
            yield 0x80 | _LONG << 3 | units - 1
            for number in (further << 1, 0, column + 1, end + 1):
                yield from _number(number)


def _number(value: int) -> Iterator[int]:
    """Yield a number of the table: six bits at a time, the lowest first, each but the last with a mark."""
    while value >> 6:
        yield value & 0x3F | 0x40
        value >>= 6
    yield value
