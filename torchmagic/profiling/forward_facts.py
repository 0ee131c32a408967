"""This file looks at models as they run: memory formats, autocast, the machine, and inputs that ask for gradients."""

import weakref
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.probes.module_parts import is_compiled, modules_of, parameters_of
from torchmagic.probes.names import Names
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.profiling.hardware import hardware_of
from torchmagic.records.speed import ForwardRecord, InputGradientRecord
from torchmagic.session.recorder import Recorder

IMAGES = 4  # dimensions
CHANNELS_LAST = torch.channels_last


class _Asked(NamedTuple):
    model: str
    tensor: weakref.ref[torch.Tensor]
    site: Site | None


class _Seen:
    """How often the inputs of a model asked for a gradient and got one."""

    def __init__(self, shape: tuple[int, ...], site: Site | None) -> None:
        self.shape, self.site = shape, site
        self.steps = self.looks = 0

    def record(self, model: str) -> InputGradientRecord:
        """Return what was seen of the model's inputs."""
        place = place_of(self.site)
        return InputGradientRecord(model=model, steps=self.steps, looks=self.looks, shape=self.shape, place=place)


class Forwards:
    """Records a ``ForwardRecord`` for each model that is trained, the machine, and an ``InputGradientRecord`` each.

    Args:
        namespace: The user's names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._names = Names(namespace)
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._models: dict[int, tuple[weakref.ref[nn.Module], str]] = {}
        self._roots: dict[int, weakref.ref[nn.Module]] = {}
        self._asked: list[_Asked] = []
        self._seen: dict[str, _Seen] = {}
        self._device: torch.device | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models and steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._called)
        taps.on("step_begin", self._leave_out)

    def flush(self, step: int) -> None:
        """See which inputs got a gradient, and rest where the next steps tell nothing new."""
        for model, ref, site in self._asked:
            tensor = ref()
            if tensor is not None:
                seen = self._seen.setdefault(model, _Seen(tuple(tensor.shape), site))
                seen.looks += 1
                seen.steps += tensor.grad is not None
        self._asked.clear()
        if self._taps is not None:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Hand over what inputs got, and let go of everything."""
        recorder, self._recorder, self._taps = self._recorder, None, None
        self._asked.clear()
        self._models.clear()
        self._roots.clear()
        if recorder is not None and self._device is not None:
            recorder.add(hardware_of(self._device))
        for model, seen in self._seen.items():
            if recorder is not None:
                recorder.add(seen.record(model))
        self._seen.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._taps is None or not self._taps.grad_enabled:
            return
        known = self._models.get(id(module))
        if known is None or known[0]() is not module:
            name = self._meet(module, args, kwargs, frame)
            known = self._models[id(module)] = (weakref.ref(module), name)
        for tensor in _tensors(args, kwargs):
            if tensor.requires_grad and tensor.grad_fn is None and not isinstance(tensor, nn.Parameter):
                self._asked.append(_Asked(known[1], weakref.ref(tensor), site_of(frame)))

    def _leave_out(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        """Leave out inputs that are what is trained, as a picture that is drawn by its gradient."""
        if self._asked:
            trained = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
            self._asked = [each for each in self._asked if id(each.tensor()) not in trained]

    def _meet(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> str:
        """Record a model that is new, and return its name."""
        root, name = self._names.of_model(module, frame)
        parameter = next(parameters_of(root), None)
        known = self._roots.get(id(root))
        if self._recorder is None or parameter is None or (known is not None and known() is root):
            return name
        self._device = self._device or parameter.device
        self._roots[id(root)] = weakref.ref(root)
        weights = [each.weight for each in modules_of(root) if isinstance(each, nn.Conv2d)]
        weights = [each for each in weights if not isinstance(each, nn.UninitializedParameter)]
        images = [each for each in _tensors(args, kwargs) if each.dim() == IMAGES]
        self._recorder.add(
            ForwardRecord(
                model=name,
                convolutions=len(weights),
                channels_last=sum(_is_channels_last(each) for each in weights),
                input_channels_last=bool(images) and _is_channels_last(images[0]),
                autocast=torch._C._is_any_autocast_enabled(),
                compiled=is_compiled(root),
                place=place_of(site_of(frame)),
            )
        )
        return name


def _tensors(args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    return (each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor))


def _is_channels_last(tensor: torch.Tensor) -> bool:
    """Whether a tensor has this format and no other; that of one channel, or of one pixel, has both."""
    if tensor.layout is not torch.strided or tensor.dim() != IMAGES:
        return False
    return tensor.is_contiguous(memory_format=CHANNELS_LAST) and not tensor.is_contiguous()
