"""This file is the trace: which operators of a replay made non-finite values, and which only passed them on."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from torchmagic.probes.origin_lines import line_in_backward, line_of_frame, line_of_node
from torchmagic.records.place import Place
from torchmagic.tensors.finite import is_finite

# Operators that write infinities on purpose, as masks do: an infinity of theirs is no origin.
WRITERS = frozenset({
    "full", "full_like", "new_full", "scalar_tensor", "fill", "fill_", "masked_fill", "masked_fill_", "where", "triu",
    "tril", "triu_", "tril_", "lift_fresh", "constant_pad_nd", "index_put", "index_put_", "index_fill", "index_fill_",
    "masked_scatter", "scatter", "scatter_",
})  # fmt: skip
# Operators that hand out memory nobody has written yet: what stands there means nothing.
ALLOCATORS = frozenset({
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_",
})  # fmt: skip
# Operators that hand on what they are given as it is.
CARRIERS = frozenset({
    "detach", "alias", "view", "_unsafe_view", "t", "transpose", "permute", "expand", "clone", "slice", "select",
    "squeeze", "unsqueeze", "as_strided", "_to_copy", "_conj",
})  # fmt: skip
# Operators that multiply or average data, and which arguments that is: an infinity that reaches one is no mask.
READERS = {
    "addmm": ("mat1", "mat2"), "mm": ("self", "mat2"), "mv": ("self", "vec"), "convolution": ("input", "weight"),
    "native_batch_norm": ("input",), "_native_batch_norm_legit": ("input",), "native_layer_norm": ("input",),
    "native_group_norm": ("input",), "mkldnn_rnn_layer": ("input",), "mean": ("self",), "var": ("self",),
    "std": ("self",), "var_mean": ("self",), "std_mean": ("self",),
}  # fmt: skip
# Operators that do not read what they write over.
OVERWRITERS = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "exponential_", "random_"})


@dataclass(slots=True, eq=False)
class Event:
    """An operator whose output was not finite, or a tensor from outside that was not.

    Args:
        number: Place in the order of events.
        op: Name of the operator, empty for a tensor from outside.
        has_nan: Whether a NaN came out.
        output: What came out.
        backward: Whether it ran in the backward.
        call: The operator and its arguments, as they were before it ran; only where the value can have been born.
        argument: Name of the argument by which a tensor from outside came, and of the operator that read it.
        parents: Where its non-finite inputs came from.
        mask: Whether its infinities were meant.
        data: Whether it came from outside and was multiplied, as data is.
    """

    number: int
    op: str
    has_nan: bool
    output: torch.Tensor
    backward: bool = False
    call: tuple[Any, Any, Any] | None = None
    argument: tuple[str, str] = ("", "")
    module: nn.Module | None = None
    place: Place | None = None
    node: str = ""
    node_number: int = -1
    own: bool = False
    parents: list["Event"] = field(default_factory=list)
    mask: bool = False
    data: bool = False

    @property
    def outside(self) -> bool:
        """Whether it is a tensor that came from outside the replay."""
        return not self.op


class Trace:
    """Follows non-finite values from operator to operator.

    Args:
        boundary: Code below which no line belongs to the replay.
        enter: Called before each outermost module runs.
    """

    def __init__(self, boundary: CodeType, enter: Callable[[nn.Module], None]) -> None:
        self.events: list[Event] = []
        self.producers: dict[Any, str] = {}
        self._boundary, self._enter = boundary, enter
        self._by_storage: dict[Any, Event] = {}
        self._stack: list[nn.Module] = []
        self._spans: list[tuple[int, int, nn.Module]] = []

    def module(self, module: nn.Module, args: Any) -> Callable[[Any], None]:
        """Note that a module runs, and which nodes of the graph it makes."""
        if not self._stack:
            self._enter(module)
        self._stack.append(module)
        began = _next_node()

        def done(_: Any) -> None:
            self._stack.pop()
            self._spans.append((began, _next_node(), module))

        return done

    def operator(self, op: Any, args: Any, kwargs: Any) -> Callable[[Any], None]:
        """Note what an operator is given; it may be gone once the operator has run in place."""
        written = _written(op, args) if op._schema.is_mutable else []
        kept = tree_map(lambda each: each.clone() if any(each is w for w in written) else each, args)

        def done(output: Any) -> None:
            outputs = [each for each in (*tree_leaves(output), *written) if isinstance(each, torch.Tensor)]
            bad = [each for each in outputs if not is_finite(each)]
            name = op._schema.name.split("::")[-1]
            if bad and name not in ALLOCATORS:
                given = [*zip(tree_leaves(kept), tree_leaves(args), strict=True)]
                given += [(each, each) for each in tree_leaves(kwargs)]
                self._note(name, (op, kept, kwargs), bad, given[name in OVERWRITERS :])
            self._produced(name, outputs, args)

        return done

    def origin(self, tensor: torch.Tensor, *, backward: bool = False) -> Event | None:
        """Return the first event from which a tensor's non-finite values come, masks left out.

        Args:
            tensor: What is not finite.
            backward: Whether it is a gradient: then what the backward itself made is looked for.
        """
        last = self._by_storage.get(_storage(tensor))
        if last is None:
            return None
        found, queue = {last}, [last]
        while queue:
            fresh = [parent for parent in queue.pop().parents if parent not in found]
            found.update(fresh)
            queue.extend(fresh)
        ordered = sorted(
            (each for each in found if each.backward or each.data or not backward), key=lambda each: each.number
        )
        births = [each for each in ordered if not each.mask and all(p.mask or p not in ordered for p in each.parents)]
        return next(iter(births or ordered), None)

    def module_of(self, event: Event) -> nn.Module | None:
        """Return the innermost module in which an event, or the forward of its node, ran."""
        if not event.backward or event.node_number < 0:
            return event.module
        spans = [(end - began, module) for began, end, module in self._spans if began <= event.node_number < end]
        return min(spans, key=lambda span: span[0])[1] if spans else None

    def _note(self, name: str, call: tuple[Any, Any, Any], bad: list[Any], given: list[tuple[Any, Any]]) -> None:
        """Note an operator that gave out ``bad``; ``given`` pairs each value as it was with the object it was in."""
        place = line_of_frame(sys._getframe(2), self._boundary)
        parents = [
            self._parent(original, (_argument(call, value), name), place)
            for value, original in given
            if isinstance(value, torch.Tensor) and not is_finite(value)
        ]
        if name in READERS:
            self._read(call, READERS[name], given)
        event = Event(len(self.events), name, bool(torch.isnan(bad[0]).any()), bad[0], parents=parents)
        event.mask = not event.has_nan and (all(p.mask for p in parents) if parents else name in WRITERS)
        event.module = self._stack[-1] if self._stack else None
        node = torch._C._current_autograd_node()
        self._place(event, node, place)
        if parents and event.backward and name in CARRIERS and not any(each.backward for each in parents):
            event.mask = True  # what the forward made and hid; whoever lets it out is the origin
        if not event.mask:
            event.call = call
        self.events.append(event)
        for each in bad:
            self._by_storage[_storage(each)] = event

    def _place(self, event: Event, node: Any, place: Place | None) -> None:
        event.backward, event.place = node is not None, place
        if node is None:
            return
        event.node = str(node.name()).rpartition("::")[2]
        event.node_number = node._sequence_nr()
        inner = line_in_backward(sys._getframe(3))
        event.own = inner is not None  # the user's own code runs in the backward
        event.place = inner or line_of_node(node, self._boundary) or place

    def _parent(self, tensor: torch.Tensor, argument: tuple[str, str], place: Place | None) -> Event:
        known = self._by_storage.get(_storage(tensor))
        if known is None:
            has_nan = bool(torch.isnan(tensor).any())
            known = Event(len(self.events), "", has_nan, tensor, argument=argument, place=place)
            # an infinity that stands alone, or minus infinities only, were written on purpose
            known.mask = not has_nan and (not tensor.dim() or not bool(torch.isposinf(tensor).any()))
            self.events.append(known)
            self._by_storage[_storage(tensor)] = known
        return known

    def _read(self, call: tuple[Any, Any, Any], names: tuple[str, ...], given: list[tuple[Any, Any]]) -> None:
        """Take infinities that came from outside, and are data of an operator, for no masks."""
        for value, original in given:
            if not isinstance(value, torch.Tensor) or _argument(call, value) not in names:
                continue
            passed, event = [], self._by_storage.get(_storage(original))
            while event is not None:
                passed.append(event)
                if event.outside:
                    event.data = True
                    for each in passed:
                        each.mask = False
                event = event.parents[0] if len(event.parents) == 1 and event.op in CARRIERS else None

    def _produced(self, name: str, outputs: list[torch.Tensor], args: Any) -> None:
        """Remember which operator made a tensor; a view of it keeps its maker."""
        given = {_storage(each) for each in tree_leaves(args) if isinstance(each, torch.Tensor)}
        for each in outputs:
            if _storage(each) not in given:
                self.producers[_storage(each)] = name


def storage_of(tensor: torch.Tensor) -> Any:
    """Return what tells a tensor's memory from any other's while it is alive."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):  # sparse, or a wrapper without memory of its own
        return ("tensor", id(tensor))


_storage = storage_of


def _next_node() -> int:
    return int(torch._C._autograd._get_sequence_nr())


def _written(op: Any, args: tuple[Any, ...]) -> list[torch.Tensor]:
    found = []
    for argument, value in zip(op._schema.arguments, args, strict=False):
        if argument.alias_info is not None and argument.alias_info.is_write:
            found += [each for each in tree_leaves(value) if isinstance(each, torch.Tensor)]
    return found


def _argument(call: tuple[Any, Any, Any], value: Any) -> str:
    """Return the name by which an operator calls a tensor that it was given."""
    for argument, given in zip(call[0]._schema.arguments, call[1], strict=False):
        if any(each is value for each in tree_leaves(given)):
            return str(argument.name)
    return ""
