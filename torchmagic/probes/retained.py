"""This file watches autograd graphs that outlive their step: how many there are, and which variable holds them."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.chains import Chains
from torchmagic.probes.graph_walk import saved, walk
from torchmagic.probes.kept_lines import place_that_keeps
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.losses import loss_name
from torchmagic.probes.module_parts import buffers_of, parameters_of
from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.storages import Ledger, tensors_in
from torchmagic.probes.taps import Taps
from torchmagic.probes.variables import variables
from torchmagic.probes.weak_table import WeakTable
from torchmagic.records.memory import RetainedGraphRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder

# The first forwards are all marked, then each so many, and later ever fewer; primes, so that they fall out of step with
# what takes turns.
FIRST_CALLS, BETWEEN_CALLS = 16, 7
LATER_CALLS, BETWEEN_LATER = 256, 31
# Marks kept; where there are more, every other one stands for two.
MOST_MARKS = 64
# Steps between looks, beside the powers of two.
BETWEEN_LOOKS = 32
# A variable may hold the graph of the step before, and some those of the last evaluation: a few graphs of few steps.
YOUNG, MANY, FEW_STEPS = 2, 8, 4
# A model may give several tensors, and one of them may be all that is kept: so many share a mark.
MOST_OUTPUTS = 8
# Nodes from an output down to the first operator; a graph that is deeper is marked that far down.
DEEPEST = 512
# Nodes that are walked in all to find out who holds a graph.
MOST_NODES = 20_000
MOST_HOLDERS = 8
_KEY = "torchmagic"


class _Mark:
    """Lives as long as the node of a graph in whose metadata it lies."""

    __slots__ = ("__weakref__",)


class _Made(NamedTuple):
    step: int
    numbers: tuple[int, ...]  # autograd's numbers of the nodes
    stands_for: int


class Retained:
    """Records ``live_graphs``, how many graphs older than two steps are alive, and who holds them when these grow.

    A node of the graph cannot be referenced weakly, but what lies in its metadata can: a mark there dies with it, so
    that the graph itself is never held. It lies at the output and at the first operator, which lives on where
    something in between is kept, such as what a hook was shown. The count is about right: not every forward is marked.

    Args:
        cast: The models, whose parameters a graph does not keep.
        namespace: The user's names.

    Attributes:
        calls: The forwards with gradients on, and the backwards of loops that call no model.
        next_site: The step at which the line of a backward is noted next.
        next_look: The step at whose end graphs are counted next.
    """

    def __init__(self, cast: Cast, namespace: Mapping[str, Any]) -> None:
        self._cast = cast
        self._namespace = namespace
        self._recorder: Recorder | None = None
        self._chains = Chains(namespace)
        self._marks: WeakTable[_Mark, _Made] = WeakTable()
        self._taps: Taps | None = None
        self._returned = _Returned(self)
        self.calls = self._due = self.next_look = 0
        self._stands_for = 1
        self._told = self._told_steps = 0
        self._site: Site | None = None
        self.next_site = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models, for what some of them return, and for backward passes."""
        self._recorder, self._taps = recorder, taps
        taps.on("root_begin", self._comes)
        taps.on("root_end", self._returned.take)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Count now and then."""
        if step >= self.next_look:
            self.next_look = min(1 << step.bit_length(), step - step % BETWEEN_LOOKS + BETWEEN_LOOKS)
            self._look(step)

    def detach(self) -> None:
        """Count a last time, and let go of everything."""
        if self._recorder is not None:
            self._look(self._recorder.step)
            self._recorder = self._taps = None
        self._marks.clear()

    def _comes(self, module: Any, args: Any, kwargs: Any, frame: Any) -> None:
        if self._taps is not None and self._taps.grad_enabled:
            self.comes()

    def comes(self) -> None:
        """Take in that a forward begins, with gradients on: what it returns is heard where that is to be marked."""
        self.calls += 1
        if self.calls >= self._due and self._taps is not None:
            self._taps.listeners.wake_up(self._returned)

    def take(self, output: Any) -> None:
        """Mark what a forward returned, and hear no more until another one is due."""
        if self.calls >= self._due:
            given = (output,) if isinstance(output, torch.Tensor) else islice(tensors_in(output), MOST_OUTPUTS)
            self._mark([tensor.grad_fn for tensor in given if tensor.grad_fn is not None])
        if self.calls + 1 < self._due and self._taps is not None:
            self._taps.rest(self._returned, until=NEVER)

    def _backward(self, tensors: Any, frame: Any) -> None:
        """Mark the loss of a loop that calls no model."""
        if self._recorder is not None and self._recorder.step >= self.next_site:
            self.next_site = 2 * self._recorder.step + 1
            self._site = site_of(frame)
        if self._cast.current is not None or not isinstance(tensors, torch.Tensor):
            return
        self.calls += 1
        if self.calls >= self._due and tensors.grad_fn is not None:
            self._mark([tensors.grad_fn])

    def _mark(self, nodes: Sequence[Any]) -> None:
        """Lay one mark in all these nodes, and in the first one of the graph: it lives as long as any of them."""
        if not nodes or self._recorder is None:
            return
        nodes = [*nodes, _first(nodes[0])]
        if len(self._marks) >= MOST_MARKS:
            self._thin()
        later = BETWEEN_CALLS if self.calls < LATER_CALLS else BETWEEN_LATER
        apart = self._stands_for * (1 if self.calls < FIRST_CALLS else later)
        self._due = self.calls + apart
        mark = _Mark()
        for node in nodes:
            node.metadata[_KEY] = mark
        numbers = tuple(node._sequence_nr() for node in nodes)
        self._marks[mark] = _Made(self._recorder.step, numbers, apart)

    def _thin(self) -> None:
        """Let every other mark stand for two, and make fewer from here on."""
        self._stands_for *= 2
        kept = self._marks.items()[::2]
        self._marks.clear()
        for mark, made in kept:
            self._marks[mark] = made._replace(stands_for=2 * made.stands_for)

    def _look(self, step: int) -> None:
        old = [made for _, made in self._marks.items() if made.step <= step - YOUNG]
        many = len(old) >= MANY or len({made.step for made in old}) >= FEW_STEPS
        count = sum(made.stands_for for made in old) if many else len(old)
        if self._recorder is None:
            return
        if not many and step & (step - 1) == 0 and (chain := self._chains.look(step)) is not None:
            self._tell_chain(step, *chain)
            return
        self._recorder.append("live_graphs", (count,))
        steps = step - min((made.step for made in old), default=step)
        if many and (count >= 2 * self._told or steps >= max(2 * self._told_steps, MANY)):
            self._told, self._told_steps = max(count, self._told), steps
            holders, num_bytes = self._search({number for made in old for number in made.numbers})
            self._recorder.add(
                RetainedGraphRecord(
                    step=step,
                    count=count,
                    oldest=min(made.step for made in old),
                    holders=holders,
                    num_bytes=num_bytes,
                    place=self._place(holders),
                )
            )

    def _tell_chain(self, step: int, name: str, since: int) -> None:
        """Each step since then has hung something on to the graph that a variable holds."""
        if self._recorder is not None:
            self._recorder.append("live_graphs", (step - since,))
            self._recorder.add(
                RetainedGraphRecord(
                    step=step,
                    count=step - since,
                    oldest=since,
                    holders=(name,),
                    num_bytes=None,
                    place=self._place((name,)),
                )
            )

    def _place(self, holders: tuple[str, ...]) -> Place | None:
        """Return the line whose text keeps a graph."""
        if self._site is None:
            return None
        return place_that_keeps(self._site, {loss_name(self._site)}, holders, self._namespace)

    def _search(self, numbers: set[int]) -> tuple[tuple[str, ...], int | None]:
        """Return the variables above whose tensors one of these nodes stands, and what their graphs keep."""
        left = MOST_NODES
        above: dict[str, set[Any]] = {}
        for name, value in variables(self._namespace):
            if left > 0 and isinstance(value, torch.Tensor) and value.grad_fn is not None:
                nodes = walk(value, most=left).nodes
                left -= len(nodes)
                above.setdefault(name, set()).update(nodes)
        holders = [name for name, nodes in above.items() if any(node._sequence_nr() in numbers for node in nodes)]
        if not holders:
            return (), None
        ledger = Ledger()
        for model in self._cast.models:
            module = model.ref()
            if module is not None:
                ledger.claim([*parameters_of(module), *buffers_of(module)])
        num_bytes = sum(ledger.claim(saved(above[name]).tensors) for name in holders)
        return tuple(holders[:MOST_HOLDERS]), num_bytes


class _Returned:
    """Hears what models return: a listener of its own, so that it can rest where nothing is to be marked."""

    def __init__(self, owner: Retained) -> None:
        self._owner = owner

    def take(self, module: Any, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        """Hand on what a model returned with gradients on."""
        if torch.is_grad_enabled():
            self._owner.take(output)


def _first(node: Any) -> Any:
    """Return the node below which, on one way down, only leaves are left."""
    for _ in range(DEEPEST):
        below = (each for each, _ in node.next_functions if each is not None and each.next_functions)
        following = next(below, None)
        if following is None:
            break
        node = following
    return node
