"""This file watches for the first non-finite value, and finds where it was born before the optimizer spreads it."""

import math
import weakref
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.probes.cast import Cast, Model
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.graph import forward_suspect, gradient_suspect
from torchmagic.probes.replay import is_finite, replay
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms, total_norm

# Calls of models remembered within a step: a recurrent loop may call many times.
MOST_CALLS = 32
# Steps between two looks at a batch that did no harm yet; one that does harm shows in the loss at once.
BETWEEN_INPUTS = 16
# Columns named in a record.
MOST_COLUMNS = 6


class NonFiniteError(RuntimeError):
    """Raised at the first non-finite value when a run is watched with ``anomaly="raise"``."""


class _Call(NamedTuple):
    module: nn.Module
    model: Model
    args: Any
    kwargs: Any
    site: Site | None


class _Loss(NamedTuple):
    name: str
    site: Site | None
    given: "weakref.ref[torch.Tensor]"
    target: "weakref.ref[torch.Tensor] | None"
    output: "weakref.ref[torch.Tensor]"


class Nonfinite:
    """Records ``NonfiniteRecord`` once a run: cheap sentinels at every step, one replay when they fire.

    The sentinels are the loss at each backward (on the CPU) and the gradients' norm before each step.
    """

    def __init__(self, cast: Cast, taps: Taps, gradients: Gradients | None, *, raises: bool, warns: bool) -> None:
        self._cast, self._taps, self._gradients = cast, taps, gradients
        self._raises, self._warns = raises, warns
        self._recorder: Recorder | None = None
        self._calls: list[_Call] = []
        self._losses: list[_Loss] = []
        self._loss: weakref.ref[torch.Tensor] | None = None
        self._site: Site | None = None
        self._found = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for everything a value passes through."""
        self._recorder = recorder
        taps.on("root_begin", self._called)
        taps.on("loss", self._lost)
        taps.on("backward_begin", self._backward)
        taps.on("step_begin", self._stepping)

    def flush(self, step: int) -> None:
        """Let go of the step's tensors."""
        self._calls.clear()
        self._losses.clear()

    def detach(self) -> None:
        """Let go of everything."""
        self.flush(0)
        self._loss = None

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        if self._found or model is None:
            return
        call = _Call(module, model, args, kwargs, site_of(frame))
        if self._taps.grad_enabled and len(self._calls) < MOST_CALLS:
            self._calls.append(call)
        if self._step % BETWEEN_INPUTS == 0:
            record = self._bad_input(call)
            if record is not None:
                self._tell(record)

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if (
            not self._found
            and isinstance(output, torch.Tensor)
            and isinstance(given, torch.Tensor)
            and len(self._losses) < MOST_CALLS
        ):
            wanted = weakref.ref(target) if isinstance(target, torch.Tensor) else None
            self._losses.append(_Loss(name, site_of(frame), weakref.ref(given), wanted, weakref.ref(output)))

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if self._found or not isinstance(tensors, torch.Tensor):
            return
        self._loss, self._site = weakref.ref(tensors), site_of(frame)
        if tensors.device.type == "cpu" and tensors.numel() == 1 and not math.isfinite(tensors.item()):
            self._tell(self._born_forward(tensors))

    def _stepping(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._found:
            return
        if self._gradients is not None and self._gradients.total is not None and math.isfinite(self._gradients.total):
            return
        entry = self._cast.optimizer(optimizer)
        held = [
            (name, tensor.grad)
            for name, ref in zip(entry.names, entry.refs, strict=True)
            if (tensor := ref()) is not None and tensor.grad is not None
        ]
        if math.isfinite(self._total(held)):
            return
        bad = [(name, gradient) for name, gradient in held if not is_finite(gradient)]
        loss = self._loss() if self._loss is not None else None
        if loss is not None and not is_finite(loss):
            self._tell(self._born_forward(loss))
        elif bad:
            self._tell(self._born_backward(bad, loss))

    def _total(self, held: list[tuple[str, torch.Tensor]]) -> float:
        if self._gradients is not None and self._gradients.total is not None:
            return self._gradients.total
        return total_norm(norms([gradient.detach() for _, gradient in held if gradient.numel()]))

    def _tell(self, record: NonfiniteRecord) -> None:
        self._found = True
        self.flush(0)
        if self._recorder is not None:
            self._recorder.add(record)
        sentence = _sentence(record)
        if self._raises:
            raise NonFiniteError(sentence)
        if self._warns:
            self._taps.warn(sentence)

    def _bad_input(self, call: _Call) -> NonfiniteRecord | None:
        for value in tree_leaves((call.args, call.kwargs)):
            if isinstance(value, torch.Tensor) and value.grad_fn is None and not is_finite(value):
                return self._record(Birth.INPUT, value, model=call.model.name, site=call.site, where=_where(value))
        return None

    def _born_forward(self, loss: torch.Tensor) -> NonfiniteRecord:
        """Return where a non-finite loss began: input, parameter, inside a model, or between model and loss."""
        for call in self._calls:
            record = self._bad_input(call) or self._bad_parameter(call) or self._bad_operator(call)
            if record is not None:
                return record
        for each in self._losses:
            record = self._bad_loss(each)
            if record is not None:
                return record
        op, site, operands = forward_suspect(loss, self._site, self._cast.names)
        return self._record(Birth.FORWARD, loss, op=op, site=site or self._site, operands=operands)

    def _bad_parameter(self, call: _Call) -> NonfiniteRecord | None:
        for name, ref in call.model.parameters.items():
            value = ref()
            if value is not None and not is_finite(value):
                module = name.rpartition(".")[0]
                return self._record(
                    Birth.PARAMETER, value, model=call.model.name, module=module, parameter=name, site=call.site
                )
        return None

    def _bad_operator(self, call: _Call) -> NonfiniteRecord | None:
        try:
            origin, bad = replay(call.module, call.args, call.kwargs, self._taps)
        except Exception:  # noqa: BLE001 - a forward that cannot run twice tells nothing; the search goes on without it
            return None
        if not bad:
            return None
        path = self._cast.path_of(origin.module) if origin is not None and origin.module is not None else None
        return NonfiniteRecord(
            birth=Birth.FORWARD,
            step=self._step,
            model=call.model.name,
            module=path or call.model.name,
            op=origin.op if origin is not None else None,
            place=place_of(origin.site if origin is not None else call.site),
            num_nan=origin.num_nan if origin is not None else 0,
            num_inf=origin.num_inf if origin is not None else 0,
            num_elements=origin.num_elements if origin is not None else 0,
            operands=origin.operands if origin is not None else "",
        )

    def _bad_loss(self, each: _Loss) -> NonfiniteRecord | None:
        output, given = each.output(), each.given()
        target = each.target() if each.target is not None else None
        if output is None or is_finite(output) or (given is not None and not is_finite(given)):
            return None
        if target is not None and not is_finite(target):
            return self._record(Birth.INPUT, target, site=each.site, where="the loss's target: " + _where(target))
        return self._record(Birth.FORWARD, output, op=each.name, site=each.site)

    def _born_backward(self, bad: list[tuple[str, torch.Tensor]], loss: torch.Tensor | None) -> NonfiniteRecord:
        name, gradient = bad[-1]
        op, site = gradient_suspect(loss, self._site, self._cast.names)
        model = next((model.name for model in self._cast.models if name in model.parameters), None)
        return self._record(
            Birth.GRADIENT,
            gradient,
            model=model,
            module=name.rpartition(".")[0] or None,
            parameter=name,
            op=op,
            site=site or self._site,
            num_parameters=len(bad),
        )

    def _record(self, birth: Birth, value: torch.Tensor, *, site: Site | None, **facts: Any) -> NonfiniteRecord:
        dense = value.detach()
        dense = dense.coalesce().values() if dense.layout is torch.sparse_coo else dense
        return NonfiniteRecord(
            birth=birth,
            step=self._step,
            place=place_of(site),
            num_nan=int(torch.isnan(dense).sum()),
            num_inf=int(torch.isinf(dense).sum()),
            num_elements=dense.numel(),
            **facts,
        )

    @property
    def _step(self) -> int:
        return self._recorder.step if self._recorder is not None else 0


def _where(value: torch.Tensor) -> str:
    """Say which columns of a table, or which sample of a batch, hold the values."""
    bad = ~torch.isfinite(value.detach())
    if value.dim() == 2:  # noqa: PLR2004 - a table
        columns = bad.any(0).nonzero().flatten().tolist()
        more = f" and {len(columns) - MOST_COLUMNS} more" if len(columns) > MOST_COLUMNS else ""
        return f"columns {', '.join(map(str, columns[:MOST_COLUMNS]))}{more} of {value.shape[1]}"
    first = bad.nonzero()[0].tolist()
    return f"first at index {tuple(first)} of shape {tuple(value.shape)}"


def _sentence(record: NonfiniteRecord) -> str:
    what = {
        Birth.INPUT: "the input holds non-finite values",
        Birth.FORWARD: f"{record.op or 'an operator'} made a non-finite value",
        Birth.GRADIENT: f"the gradient of {record.parameter} is non-finite",
        Birth.PARAMETER: f"{record.parameter} is non-finite",
    }[record.birth]
    module = f" in {record.module}" if record.module else ""
    place = f" (line {record.place.line}: {record.place.source})" if record.place is not None else ""
    return f"step {record.step}: {what}{module}{place}"
