"""This file watches sigmoids and tanhs: which of their outputs lie at a limit, and what these are used for."""

import itertools
from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.consumers import Consumers, number_of
from torchmagic.probes.graph_walk import walk
from torchmagic.probes.leaves import Leaves, Look
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.producers import source_node
from torchmagic.probes.rare_looks import next_rare_look
from torchmagic.probes.sites import is_users, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.place import Place
from torchmagic.records.structure import SquashRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable, tensors_in
from torchmagic.tensors.reduce import fetch

# Middle and half width of the outputs' range, and the distance from a limit within which the slope is about gone.
RANGES = {"sigmoid": (0.5, 0.5), "tanh": (0.0, 1.0)}
AT_THE_LIMIT = 0.01
# A graph of more nodes is not walked; after so many walks the use of each is known.
MOST_NODES, MOST_WALKS = 5_000, 3
# After so many looks at models without one, the next look is so many steps away.
IDLE_LOOKS, BETWEEN_IDLE = 3, 512
# Values of an output that are counted, taken at even distances.
MOST_VALUES = 1024
# A cell written by hand calls at each time step: of one call that many are measured in a step.
MOST_CALLS = 4


class _Squash:
    """A sigmoid or tanh: its path and kind, and what its outputs were seen to be used for."""

    def __init__(self, path: str, kind: str, place: Place | None) -> None:
        self.path, self.kind, self.place = path, kind, place
        self.is_hidden = self.is_gate = self.is_output = False
        self.flat: list[torch.Tensor] = []  # of each call, the share that lies at a limit
        self.calls = 0

    @property
    def is_call(self) -> bool:
        """Whether it is a call of the function, and no module."""
        return self.place is not None


class Squashes:
    """Records ``saturated_share`` per sigmoid and tanh, module or call, and at the end a ``SquashRecord`` of each.

    Of one that is called several times in a step, the share is that of the call with the largest.
    """

    def __init__(self, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._look = Look(leaves, taps)
        self._recorder: Recorder | None = None
        self._known: dict[Hashable, _Squash] = {}
        # By the number of their node: what was made since the last backward.
        self._made: dict[int, _Squash] = {}
        self._looks = self._walks = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for the modules, for calls of the functions, for models' outputs and for backwards."""
        self._recorder = recorder
        taps.on("leaf", self._see)
        taps.on("squash", self._see_function)
        taps.on("root_end", self._end)
        taps.on("backward_begin", self._go_back)
        self._switch(on=True)

    def flush(self, step: int) -> None:
        """Hand over the step's shares, and decide whether the next step is looked at."""
        if self._look.is_on or self._look.took:
            self._close()
        self._made.clear()
        idle = not self._known and self._looks > IDLE_LOOKS
        following = step - step % BETWEEN_IDLE + BETWEEN_IDLE if idle else next_rare_look(step)
        self._switch(on=following == step + 1)
        self._taps.rest(self, until=following - 1)  # awake one step early, to have the leaves shown

    def detach(self) -> None:
        """Say what each was used for."""
        self._switch(on=False)
        self._made.clear()
        if self._recorder is None:
            return
        for squash in self._known.values():
            self._recorder.add(
                SquashRecord(
                    module=squash.path,
                    function=squash.kind,
                    is_hidden=squash.is_hidden and not squash.is_output,
                    is_gate=squash.is_gate,
                    place=squash.place,
                )
            )
        self._known = {}
        self._recorder = None

    def _switch(self, *, on: bool) -> None:
        self._look.switch(on=on)
        # The functions' wrappers are dear to put in and out: where only modules were seen, they stay out.
        wanted = on and (self._looks <= IDLE_LOOKS or any(squash.is_call for squash in self._known.values()))
        for kind in RANGES:
            self._taps.see(kind, seen=wanted)

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if self._look.counts() and isinstance(module, nn.Sigmoid | nn.Tanh):
            kind = "sigmoid" if isinstance(module, nn.Sigmoid) else "tanh"
            self._watch(id(module), kind, output, lambda: (self._cast.path_of(module) or type(module).__name__, None))

    def _see_function(self, kind: str, output: Any, frame: FrameType) -> None:
        if self._look.is_on and is_users(frame):  # the modules call the functions too
            owner = self._taps.stack[-1] if self._taps.stack else None
            key = (frame.f_code, frame.f_lasti, id(owner))
            self._watch(key, kind, output, lambda: self._place(kind, frame, owner))

    def _place(self, kind: str, frame: FrameType, owner: nn.Module | None) -> tuple[str, Place | None]:
        path = (self._cast.path_of(owner) if owner is not None else None) or frame.f_code.co_name
        taken = {squash.path for squash in self._known.values()}
        number = next(i for i in itertools.count(1) if f"{path}.{kind}({i})" not in taken)
        return f"{path}.{kind}({number})", place_of(site_of(frame))

    def _watch(self, key: Hashable, kind: str, output: Any, name: Callable[[], tuple[str, Place | None]]) -> None:
        if not self._taps.grad_enabled or not readable(output) or output.grad_fn is None:
            return
        began = now()
        squash = self._known.get(key)
        if squash is None:
            squash = self._known[key] = _Squash(name()[0], kind, name()[1])
        if self._walks < MOST_WALKS:
            self._made[number_of(output.grad_fn)] = squash
        squash.calls += 1
        if squash.calls <= MOST_CALLS:
            middle, half = RANGES[kind]
            values = output.detach().reshape(-1)
            values = values[:: -(-values.numel() // MOST_VALUES)]
            squash.flat.append(((values - middle).abs_() >= half - AT_THE_LIMIT).float().mean())
        self._look.took += now() - began

    def _end(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        """What a model gives is its output, even where another model works on it, as a discriminator does."""
        if not self._made:
            return
        for tensor in tensors_in(output):
            node = source_node(tensor)
            squash = self._made.get(number_of(node)) if node is not None else None
            if squash is not None:
                squash.is_output = True

    def _go_back(self, tensors: Any, frame: Any) -> None:
        if not self._made or self._walks >= MOST_WALKS:
            return
        began = now()
        self._walks += 1
        found = walk(tensors, most=MOST_NODES)
        if found.complete:
            consumers = Consumers(found.nodes)
            for number, squash in self._made.items():
                hidden, gate = consumers.use_of(number)
                squash.is_hidden, squash.is_gate = squash.is_hidden or hidden, squash.is_gate or gate
        self._made.clear()
        self._look.took += now() - began

    def _close(self) -> None:
        began = now()
        seen = [squash for squash in self._known.values() if squash.flat]
        if seen and self._recorder is not None:
            flat = iter(fetch([each for squash in seen for each in squash.flat]))
            # one that is used in several places may be sound in some of them
            shares = [max(next(flat) for _ in squash.flat) for squash in seen]
            self._recorder.append("saturated_share", shares, tuple(squash.path for squash in seen))
        for squash in seen:
            squash.flat, squash.calls = [], 0
        self._look.took += now() - began
        self._looks += 1
        self._pacer.pay("squashes", self._look.cost())
