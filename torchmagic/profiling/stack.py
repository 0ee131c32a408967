"""This file goes once through the events in order and knows at each what is around it: who called, where, what for."""

from collections.abc import Callable

from torchmagic.profiling.collected import BATCH, Collected
from torchmagic.profiling.contexts import Cell, Context, Contexts, Moves
from torchmagic.profiling.flops import CARRIERS, operations
from torchmagic.profiling.frames import Frame, Thread, cut, owner_in, tell_apart
from torchmagic.profiling.inputs import described
from torchmagic.profiling.meanings import ACCUMULATE, Meanings
from torchmagic.profiling.noted import Batch, Change, Interval, OpenModule
from torchmagic.profiling.ordered import Ordered

_NEVER = 1 << 62


class Stack:
    """What was found: the sums of all operators by place, and what needs its order.

    Args:
        collected: What was collected.
        events: Its events.

    Attributes:
        contexts: Places with their sums.
        intervals: Phases in the thread that trains, in order; the inner ones follow those around them.
        changes: Allocations and releases, in order.
        batches: Batches that came, in order.
        operators: Sums of the operators by what connects them with their kernels.
    """

    def __init__(self, collected: Collected, events: Ordered) -> None:
        self.contexts = Contexts()
        self.intervals: list[Interval] = []
        self.changes: list[Change] = []
        self.batches: list[Batch] = []
        self.operators: dict[int, Cell] = {}
        self._collected, self._events = collected, events
        self._splits = "shapes" in collected.options
        self._threads: dict[int, Thread] = {}
        self._makers = events.makers()
        self._copies = {event.correlation for event in events.kernels if event.name.startswith("Memcpy HtoD")}
        self._meanings = Meanings(self.contexts, collected.modules, bool(self._copies))
        self._deeds: dict[Moves, Callable[[Thread, Cell, int, int, int, int], Context | None]] = {
            Moves.ALWAYS: self._enter,
            Moves.NODE: self._enter_node,
            Moves.LOOSE: self._judge,
            Moves.COPY: self._copy,
            Moves.MEMORY: self._remember,
            Moves.WAIT: self._wait,
            Moves.BATCH: self._batch,
        }
        self._go()

    def _go(self) -> None:  # noqa: C901 - it runs for each of a million events; a call more in it is a tenth of its time
        details, deeds = self._events.details(), self._deeds
        last, alike = None, list[tuple[Frame, int]]()
        # What goes on as the window begins, as the line of the step before, is no call in it.
        begin = self._collected.begin if self._collected.first_step else -1
        thread, number = self._thread(self._collected.thread), self._collected.thread
        for start, end, name, on, sequence, index in self._events:
            if on != number:
                number, thread = on, self._thread(on)
            stack = thread.stack
            top = stack[-1]
            while top[0] <= start:
                stack.pop()
                top = stack[-1]
            if end > top[0]:
                top = cut(stack, start, end)
            around = top[2]
            cell = around.doors.get(name)
            if cell is None:
                cell = self._door(around, name, top[1], sequence)
            inner = around
            if cell.moves:
                moved = deeds[cell.moves](thread, cell, start, end, sequence, index)
                if moved is None:
                    continue
                inner = moved
                cell = inner.cells.get(name) or _add(inner, name, cell)
            if index in details:
                cell = self._detailed(thread, cell, start, end, index)
            duration = end - start
            if alike:
                tell_apart(alike, top, start)
            if top is last and cell.operator and cell.name == top[1].name:
                alike.append((top, duration))
                cell = top[1]
            else:
                cell.calls += start > begin
                cell.total += duration
            cell.own += duration
            top[1].own -= duration
            if sequence >= 0:
                thread.origins[sequence] = inner
            last = (end, cell, inner)
            stack.append(last)

    def _thread(self, number: int) -> Thread:
        found = self._threads.get(number)
        if found is None:
            root = self.contexts.root(main=number == self._collected.thread)
            nothing = Cell("", root, operator=False)
            if root.main:
                nothing.own = self._collected.end - self._collected.begin
                root.cells[""] = nothing
            found = self._threads[number] = Thread([(_NEVER, nothing, root)])
        return found

    def _door(self, context: Context, number: int, caller: Cell, sequence: int) -> Cell:
        """Return what events of a name do at a place; where that is nothing, it is what they are summed in."""
        name = self._events.names[number]
        door = self._meanings.door(context, name, caller=caller, makes_node=sequence >= 0)
        if door.moves == Moves.NOTHING:
            door = context.cells.setdefault(number, door)
        context.doors[number] = door
        return door

    def _detailed(self, thread: Thread, cell: Cell, start: int, end: int, index: int) -> Cell:
        """Return what an operator is summed in by its inputs, count its operations, and await its kernels."""
        event = self._events.inputs.get(index)
        if self._splits and cell.operator and event is not None:
            shapes, dtype = described(event)
            key = (cell.name, shapes, dtype)
            cell = cell.context.cells.get(key) or _add(cell.context, key, cell)
            cell.shapes, cell.dtype = shapes, dtype
        if start >= thread.counted_until:
            if cell.counts and event is not None and (found := operations(event)) is not None:
                thread.counted, thread.counted_until, thread.counter = found, end, cell
                cell.flops += found
        elif thread.counter is not None and cell.name in CARRIERS:
            thread.counter.flops -= thread.counted
            cell.flops += thread.counted
            thread.counter = None
        if index in self._events.correlations:
            self.operators.setdefault(self._events.correlations[index], cell)
        return cell

    def _note_phase(self, inner: Context, outer: Context, start: int, end: int) -> Context:
        if inner.main and inner.phase != outer.phase:
            self.intervals.append(Interval(start, end, inner.phase))
        return inner

    def _enter(self, thread: Thread, door: Cell, start: int, end: int, _sequence: int, _index: int) -> Context:
        inner = door.inner or door.context
        if inner.modules is not door.context.modules:
            thread.modules = OpenModule(end, inner.modules.index, OpenModule.at(thread.modules, start))
        return self._note_phase(inner, door.context, start, end)

    def _enter_node(self, thread: Thread, door: Cell, start: int, end: int, _sequence: int, index: int) -> Context:
        if door.name != ACCUMULATE:
            number, sequence = self._events.nodes.get(index, (0, -1))
            owner = self._threads.get(number)
            thread.last_node = owner.origins.get(sequence) if owner else None
        # What adds to a gradient follows the node that made it.
        return self._note_phase(self.contexts.in_node(door.context, thread.last_node), door.context, start, end)

    def _judge(self, _thread: Thread, door: Cell, start: int, end: int, sequence: int, _index: int) -> Context:
        """Take an operator outside of modules as forward where it made a node that a backward reached."""
        if sequence < 0 or not start <= self._makers.get(sequence, _NEVER) < end:
            return door.context
        return self._note_phase(self.contexts.in_phase(door.context, "forward"), door.context, start, end)

    def _copy(self, _thread: Thread, door: Cell, start: int, end: int, _sequence: int, index: int) -> Context:
        if self._events.correlations.get(index) not in self._copies:
            return door.context
        return self._note_phase(self.contexts.in_phase(door.context, "transfer"), door.context, start, end)

    def _remember(self, thread: Thread, door: Cell, start: int, _end: int, _sequence: int, index: int) -> None:
        size, device, address = self._events.sizes[index]
        thread.modules = OpenModule.at(thread.modules, start)
        owner = owner_in(thread.stack)
        if size > 0:
            owner.allocated += size
        self.changes.append(Change(start, size, door.context, owner, thread.modules, device, address))

    def _wait(self, thread: Thread, door: Cell, start: int, end: int, _sequence: int, _index: int) -> Context:
        thread.wait = Batch(-1, end - start, door.context.lines.index)
        return self._note_phase(door.inner or door.context, door.context, start, end)

    def _batch(self, thread: Thread, door: Cell, _start: int, _end: int, _sequence: int, _index: int) -> None:
        if thread.wait is not None:
            self.batches.append(thread.wait._replace(loader=int(door.name.removeprefix(BATCH))))
            thread.wait = None


def _add(context: Context, key: object, like: Cell) -> Cell:
    found = context.cells[key] = Cell(like.name, context, operator=like.operator, counts=like.counts)
    return found
