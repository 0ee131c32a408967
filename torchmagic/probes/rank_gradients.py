"""This file follows a rank's gradients: whether each backward exchanges them, and how long it waits for the others."""

import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchmagic.probes.cast import Cast
from torchmagic.probes.pacing import next_look
from torchmagic.probes.rank_models import Wrappers, exchanges, without_gradient, wrap_record, wrappers_in
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.ranks import WithoutGradientRecord
from torchmagic.session.recorder import Recorder

SYNC = ("reduced", "withheld", "bypassed")
# DDP times its first iterations, and then each hundredth.
FIRST_TIMED, TIMED_EVERY = 10, 100
MOST_NAMES, MOST_RECORDS = 64, 16
REDUCED, WITHHELD, BYPASSED = range(3)


class RankGradients:
    """Records ``gradient_sync`` per step, DDP's ``sync_wait`` and ``sync_seconds``, ``WrapRecord`` once a model.

    And ``WithoutGradientRecord`` where parameters of a model have no gradient at a step: it looks at the first steps,
    and then at powers of two.
    """

    def __init__(self, cast: Cast, wrappers: Wrappers) -> None:
        self._cast, self._wrappers = cast, wrappers
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._told: set[str] = set()
        self._inside: dict[int, tuple[weakref.ref[nn.Module], list[weakref.ref[nn.Module]]]] = {}
        self._pending: set[int] = set()
        self._counts = [0, 0, 0]
        self._timed: dict[int, _Timed] = {}
        self._absent: dict[str, tuple[str, ...]] = {}
        self._next_look, self._looks = 0, 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models, backwards and steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("module_built", self._built)
        taps.on("root_begin", self._called)
        taps.on("backward_begin", self._backward)
        taps.on("step_begin", self._step)

    def flush(self, step: int) -> None:
        """Close the step."""
        if self._recorder is None:
            return
        self._recorder.append("gradient_sync", self._counts, SYNC)
        self._counts, self._pending = [0, 0, 0], set()
        for timed in self._timed.values():
            found = timed.read()
            if found is not None:
                self._recorder.append("sync_wait", found[:1])
                self._recorder.append("sync_seconds", found[1:])

    def detach(self) -> None:
        """Let go of everything."""
        self._recorder = self._taps = None
        self._inside.clear()
        self._timed.clear()
        self._wrappers.let_go()

    def _built(self, module: nn.Module, frame: FrameType) -> None:
        self._wrappers.meet(module)

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._taps is None or not self._taps.grad_enabled:
            return
        known = self._inside.get(id(module))
        if known is None or known[0]() is not module:
            known = self._inside[id(module)] = self._discover(module, frame)
        wrappers = [wrapper for ref in known[1] if (wrapper := ref()) is not None]
        for wrapper in wrappers:
            self._pending.add(REDUCED if exchanges(wrapper) else WITHHELD)
            if id(wrapper) in self._timed:
                self._timed[id(wrapper)].count(exchanged=exchanges(wrapper))
        if not wrappers and self._wrappers.around(module) is not None:
            self._pending.add(BYPASSED)

    def _discover(
        self, module: nn.Module, frame: FrameType
    ) -> tuple[weakref.ref[nn.Module], list[weakref.ref[nn.Module]]]:
        wrappers = wrappers_in(module)
        for wrapper in wrappers:
            self._wrappers.meet(wrapper)
            if isinstance(wrapper, DistributedDataParallel):
                self._wrappers.hold_group(wrapper)
                self._timed[id(wrapper)] = _Timed(wrapper)
        model = self._cast.model_of(module)
        if model is not None and model.name not in self._told and self._recorder is not None:
            self._told.add(model.name)
            self._recorder.add(wrap_record(model, model.ref() or module, place_of(site_of(frame))))
        return weakref.ref(module), [weakref.ref(each) for each in wrappers]

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        for kind in self._pending if len(self._pending) == 1 else self._pending - {BYPASSED}:
            self._counts[kind] += 1
        self._pending = set()

    def _step(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._recorder is None or self._recorder.step < self._next_look or self._looks >= MOST_RECORDS:
            return
        self._next_look = next_look(self._recorder.step)
        owned = {id(each) for group in optimizer.param_groups for each in group["params"]}
        for model in self._cast.models:
            if not any(id(ref()) in owned for ref in model.parameters.values()):
                continue
            names = without_gradient(model)
            if self._absent.get(model.name, ()) != tuple(names):
                self._absent[model.name] = tuple(names)
                self._looks += 1
                self._recorder.add(
                    WithoutGradientRecord(
                        model=model.name,
                        step=self._recorder.step,
                        parameters=tuple(names[:MOST_NAMES]),
                        num_parameters=len(names),
                    )
                )


class _Timed:
    """DDP's own times of one wrapped model, read where it has taken new ones."""

    def __init__(self, wrapper: DistributedDataParallel) -> None:
        self._ref = weakref.ref(wrapper)
        self._seen = -1
        self._iteration = 0
        self._due = True

    def count(self, *, exchanged: bool) -> None:
        """A forward began; those whose backward exchanges gradients are what DDP counts."""
        if exchanged:
            self._iteration += 1
            self._due = self._iteration <= FIRST_TIMED + 2 or self._iteration % TIMED_EVERY <= 1

    def read(self) -> tuple[float, float] | None:
        """Return seconds of waiting and of the whole exchange in the newest backward; None where DDP took no times."""
        wrapper = self._ref()
        if wrapper is None or not self._due:
            return None
        said = wrapper._get_ddp_logging_data()  # type: ignore[no-untyped-call] # torch
        iteration = int(said.get("iteration", -1))
        if iteration == self._seen or "backward_comm_time" not in said:
            return None
        self._seen = iteration
        whole, within = int(said["backward_comm_time"]), int(said["backward_compute_comm_overlap_time"])
        return max(0, whole - within) / 1e9, whole / 1e9
