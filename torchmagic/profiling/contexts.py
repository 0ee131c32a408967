"""This file is where time falls: in a phase, in a module within modules, at a line within lines, and by which operator.

Operators run by the million, but at few places: each place is made once, and each operator there has one sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

# What holds no other: waits and copies within reading data are data, and what a backward runs again is its own.
_WITHIN = {"data": set[str](), "backward": {"data", "optimizer"}, "optimizer": {"data", "forward", "backward"}}


class Moves(IntEnum):
    """What an event does to the place of those within it."""

    NOTHING = 0
    ALWAYS = 1  # it is a range, and always leads to the same place
    NODE = 2  # a node of the backward, whose forward decides
    LOOSE = 3  # an operator in no module and no phase; what it computes decides
    COPY = 4  # one that may copy to the accelerator
    MEMORY = 5
    WAIT = 6
    BATCH = 7


@dataclass(slots=True, eq=False)
class Chain:
    """A module or a line, and those around it, from the outermost.

    Args:
        index: Its number; -1 for the beginning, which is none.
        outer: What is around it; None for the beginning.
    """

    index: int = -1
    outer: "Chain | None" = None
    _inner: dict[int, "Chain"] = field(default_factory=dict)

    def within(self, index: int) -> "Chain":
        """Return the chain of what is right within this one, always the same for the same."""
        found = self._inner.get(index)
        if found is None:
            found = self._inner[index] = Chain(index, self)
        return found

    def indices(self) -> set[int]:
        """Return the numbers along it, each once however often it calls itself."""
        return {chain.index for chain in self if chain.index >= 0}

    def __iter__(self) -> Iterator["Chain"]:
        """Yield it and those around it, from the innermost."""
        chain: Chain | None = self
        while chain is not None:
            yield chain
            chain = chain.outer


@dataclass(slots=True, eq=False)
class Cell:
    """The sums of one operator or range at one place; times in nanoseconds.

    Args:
        name: Its name.
        context: Where it was.
        operator: Whether it is an operator, and not a range around Python.
        moves: What it does to the place of those within it.
        inner: That place, where it is always the same.
        counts: Whether its operations may be counted.
        shapes: Shapes of its inputs, where asked for.
        dtype: Type of its first input, where asked for.
        calls: Times it ran.
        total: Time, with what it calls.
        own: Time, without.
        device: Time of its kernels.
        flops: Operations.
        allocated: Bytes it allocated.
    """

    name: str
    context: "Context"
    operator: bool = True
    moves: Moves = Moves.NOTHING
    inner: "Context | None" = None
    counts: bool = False
    shapes: str = ""
    dtype: str = ""
    calls: int = 0
    total: int = 0
    own: int = 0
    device: int = 0
    flops: int = 0
    allocated: int = 0


@dataclass(slots=True, eq=False)
class Context:
    """A place.

    Args:
        main: Whether it is in the thread that trains.
        phase: Its phase, as those of ``OperatorCost``.
        backward: Whether it is in a node of the backward.
        modules: The module, and those around it; in the backward, those that computed the forward.
        lines: The line, and those that called it.
        source: The line that gets the time of the backward of what is computed here; -1 for none.
        doors: What an event of a name does here, by the number of its name.
        cells: What ran here, by the number of the name, or by that and what else tells it apart.
    """

    main: bool
    phase: str
    backward: bool
    modules: Chain
    lines: Chain
    source: int
    doors: dict[int, Cell] = field(default_factory=dict)
    cells: dict[object, Cell] = field(default_factory=dict)


class Contexts:
    """All places, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[bool, str, bool, int, int, int], Context] = {}
        self._modules, self._lines = Chain(), Chain()

    def root(self, *, main: bool) -> Context:
        """Return the place of what is in nothing, in the thread that trains or in any other."""
        return self._at(main, "other", False, self._modules, self._lines, -1)  # noqa: FBT003 - as Context's fields

    def in_phase(self, outer: Context, phase: str) -> Context:
        """Return the place of a phase within another, which may absorb it."""
        inner = phase_within(outer.phase, phase)
        return self._at(outer.main, inner, outer.backward, outer.modules, outer.lines, outer.source)

    def in_module(self, outer: Context, modules: Chain) -> Context:
        """Return the place of a module's forward."""
        inner = phase_within(outer.phase, "forward")
        return self._at(outer.main, inner, outer.backward, modules, outer.lines, outer.source)

    def at_line(self, outer: Context, index: int) -> Context:
        """Return the place of a line."""
        return self._at(outer.main, outer.phase, outer.backward, outer.modules, outer.lines.within(index), index)

    def in_node(self, outer: Context, forward: Context | None) -> Context:
        """Return the place of a node of the backward, by that of its forward, where it is known."""
        modules = self._modules if forward is None else forward.modules
        source = -1 if forward is None else forward.source
        phase = phase_within(outer.phase, "backward")
        return self._at(outer.main, phase, True, modules, outer.lines, source)  # noqa: FBT003 - as Context's fields

    def __iter__(self) -> Iterator[Context]:
        """Yield all that were made."""
        return iter(self._known.values())

    def _at(self, main: bool, phase: str, backward: bool, modules: Chain, lines: Chain, source: int) -> Context:  # noqa: FBT001, PLR0917 - as Context's fields
        key = (main, phase, backward, id(modules), id(lines), source)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Context(main, phase, backward, modules, lines, source)
        return found


def phase_within(outer: str, inner: str) -> str:
    """Return the phase of what is in one and says it begins another: mostly the latter.

    All that reading data does is data; a backward that runs a forward again is still one; copies that an optimizer
    makes are its own.
    """
    return inner if inner in _WITHIN.get(outer, {inner}) else outer
