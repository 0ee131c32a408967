"""This file tries cures on copies of a model and its optimizer, after the run: what they gain here, as measured."""

import inspect
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from torchmagic.models.streams import untouched_globals
from torchmagic.models.twin import Twin
from torchmagic.probes.module_parts import is_compiled, parameters_of
from torchmagic.probes.names import Names
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.profiling.compile_trial import try_compiling
from torchmagic.profiling.forked import UnansweredError
from torchmagic.profiling.optimizer_facts import can_fuse
from torchmagic.profiling.trial import in_turn
from torchmagic.records.note import NoteRecord
from torchmagic.records.speed import VerifiedRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.accelerators import wait_for

PASS, STEP = "forward and backward", "step"
IMAGES = 4  # dimensions
FAILED = "The cure {} could not be tried on a copy of {} ({})."
Deed = Callable[[], object]


class _Cure(NamedTuple):
    name: str
    what: str
    before: Deed
    after: Deed


class Verify:
    """Records a ``VerifiedRecord`` for each cure that can be tried on the first model and optimizer that train.

    The model's first batch is kept, as a copy, until the run ends. Then twins of the model run on it, forward and
    backward from the sum of what they give: no object of the user's is called, and random numbers are put back. What
    torch.compile makes of a twin it makes in a process of its own.

    Args:
        names: What the user calls things.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._model: tuple[str, weakref.ref[nn.Module]] | None = None
        self._optimizer: tuple[str, weakref.ref[torch.optim.Optimizer]] | None = None
        self._given: Any = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Wait for a model that trains, and for its optimizer."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._called)
        taps.on("step_begin", self._stepping)

    flush = nothing_waits

    def detach(self) -> None:
        """Try the cures, and let go of everything."""
        recorder, self._recorder, self._taps = self._recorder, None, None
        given, self._given = self._given, None
        if recorder is None or not torch.is_grad_enabled():
            return
        model = self._model[1]() if self._model is not None else None
        optimizer = self._optimizer[1]() if self._optimizer is not None else None
        with untouched_globals():
            if self._model is not None and model is not None:
                _try_all(recorder, self._model[0], _cures_of_model(model, given))
                _try_compiling(recorder, self._model[0], model, given)
            if self._optimizer is not None and optimizer is not None:
                _try_all(recorder, self._optimizer[0], _cures_of_optimizer(optimizer))

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._model is None and self._taps is not None and self._taps.grad_enabled and module.training:
            root, name = self._names.of_model(module, frame)
            compiled = is_compiled(root)
            if root is module and not compiled and all(_is_plain(each) for each in parameters_of(root)):
                self._model = name, weakref.ref(root)
                self._given = tree_map(_kept, (args, kwargs))

    def _stepping(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._optimizer is None:
            self._optimizer = self._names.of_optimizer(optimizer, frame), weakref.ref(optimizer)


def _kept(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _is_plain(parameter: nn.Parameter) -> bool:
    return parameter.dtype is torch.float32 and not isinstance(parameter, nn.UninitializedParameter)


def _try_all(recorder: Recorder, subject: str, cures: Iterator[_Cure]) -> None:
    name = "that was next"
    try:
        for name, what, before, after in cures:
            outcome = in_turn(before, after)
            if outcome is not None:
                recorder.add(VerifiedRecord(cure=name, subject=subject, what=what, **outcome._asdict()))
    except Exception as error:  # noqa: BLE001 - the user's model, which may raise anything
        first = f"{type(error).__name__}: {error}".partition("\n")[0]
        recorder.add(NoteRecord(text=FAILED.format(name, subject, first)))


def _try_compiling(recorder: Recorder, name: str, model: nn.Module, given: Any) -> None:
    try:
        outcome = try_compiling(lambda: _copy(model), lambda copy: _pass(copy, given))
    except (UnansweredError, OSError) as error:
        recorder.add(NoteRecord(text=FAILED.format("torch.compile", name, error)))
        return
    if outcome is not None:
        recorder.add(VerifiedRecord(cure="compile", subject=name, what=PASS, **outcome))


def _cures_of_model(model: nn.Module, given: Any) -> Iterator[_Cure]:
    plain = _pass(_copy(model), given)
    yield _Cure("bfloat16", PASS, plain, _pass(_copy(model), given, half=True))
    if any(isinstance(each, nn.Conv2d) for each in model.modules()):
        turned, copy = tree_map(_turned, given), _copy(model)
        copy.to(memory_format=torch.channels_last)  # type: ignore[call-overload] # torch's stubs want more
        yield _Cure("channels_last", PASS, plain, _pass(copy, turned))


def _copy(model: nn.Module) -> nn.Module:
    """Return a twin whose weights are its own as well."""
    twin = Twin(model).module
    for parameter in twin.parameters():
        parameter.data = parameter.data.clone()
    return twin.train()


def _turned(value: Any) -> Any:
    images = isinstance(value, torch.Tensor) and value.dim() == IMAGES
    return value.contiguous(memory_format=torch.channels_last) if images else value


def _pass(module: nn.Module, given: Any, *, half: bool = False) -> Deed:
    """Return a forward and backward of a copy."""
    args, kwargs = given
    device = next(module.parameters()).device

    def run() -> None:
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            output = module(*args, **kwargs)
        floats = [each for each in tree_leaves(output) if isinstance(each, torch.Tensor) and each.requires_grad]
        sum(each.float().sum() for each in floats).backward()  # type: ignore[union-attr] # nothing to learn: it raises, and that is said
        for parameter in module.parameters():
            parameter.grad = None
        wait_for(device)

    return run


def _cures_of_optimizer(optimizer: torch.optim.Optimizer) -> Iterator[_Cure]:
    tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    if can_fuse(optimizer, tensors) and not optimizer.defaults.get("fused"):
        yield _Cure("fused", STEP, _step(optimizer, tensors), _step(optimizer, tensors, foreach=None, fused=True))


def _step(optimizer: torch.optim.Optimizer, tensors: list[torch.Tensor], **changes: bool | None) -> Deed:
    """Return a step of an optimizer made like this one, on copies of its parameters."""
    copies = [nn.Parameter(tensor.detach().clone()) for tensor in tensors]
    for each in copies:
        each.grad = torch.full_like(each, 1e-3)
    known = inspect.signature(type(optimizer).__init__).parameters
    settings = {name: value for name, value in optimizer.defaults.items() if name in known} | changes
    made = type(optimizer)(copies, **settings)
    return made.step
