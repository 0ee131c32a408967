"""This file is the births: where a non-finite value came from, found from what a step left in memory."""

import inspect
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.probes.cast import Cast, Model
from torchmagic.probes.graph import forward_suspect, gradient_suspect
from torchmagic.probes.replay import is_finite, is_mask, replay
from torchmagic.probes.sites import Site, is_users, place_of, words_before
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import Birth, NonfiniteRecord

if TYPE_CHECKING:
    import weakref

# Lines above a backward in which the tensors that its loss is made from are named.
MOST_LINES = 15
# Columns named in a record.
MOST_COLUMNS = 6


class Call(NamedTuple):
    """A call of a model: what it was given, and the line."""

    module: nn.Module
    model: Model
    args: Any
    kwargs: Any
    site: Site | None


class Loss(NamedTuple):
    """A call of a loss function; its tensors are not kept alive."""

    name: str
    site: Site | None
    given: "weakref.ref[torch.Tensor]"
    target: "weakref.ref[torch.Tensor] | None"
    output: "weakref.ref[torch.Tensor]"


class Births:
    """Searches a step's calls, losses, tensors and graph for the origin, in the order in which values flow."""

    def __init__(self, cast: Cast, taps: Taps) -> None:
        self._cast, self._taps = cast, taps
        self.calls: list[Call] = []
        self.losses: list[Loss] = []
        self.step = 0
        self.site: Site | None = None

    def clear(self) -> None:
        """Let go of the step's tensors."""
        self.calls.clear()
        self.losses.clear()

    def in_input(self, call: Call, *, masks: bool = False) -> NonfiniteRecord | None:
        """Return what is not finite in the batch given to a model; a mask of minus infinities only when asked."""
        for value in tree_leaves((call.args, call.kwargs)):
            if not isinstance(value, torch.Tensor) or value.grad_fn is not None or is_finite(value):
                continue
            if masks or not is_mask(value):
                return self._record(Birth.INPUT, value, model=call.model.name, site=call.site, where=_where(value))
        return None

    def in_forward(self, loss: torch.Tensor, frame: FrameType | None) -> NonfiniteRecord:
        """Return where a non-finite loss began: input, parameter, inside a model, or between model and loss."""
        for call in self.calls:
            record = self.in_input(call) or self._bad_parameter(call) or self._bad_operator(call)
            if record is not None:
                return record
        for each in self.losses:
            record = self._bad_loss(each)
            if record is not None:
                return record
        record = self._bad_local(frame) or next(filter(None, (self.in_input(c, masks=True) for c in self.calls)), None)
        if record is not None:
            return record
        op, site, operands = forward_suspect(loss, self.site, self._cast.names)
        return self._record(Birth.FORWARD, loss, op=op, site=site or self.site, operands=operands)

    def _bad_local(self, frame: FrameType | None) -> NonfiniteRecord | None:
        """Return a tensor of data, such as a target, that stands beside the backward call and is not finite."""
        while frame is not None and not is_users(frame):
            frame = frame.f_back
        if frame is None or frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return None  # a function's own names are not read: that would keep them alive
        names = words_before(frame.f_code.co_filename, frame.f_lineno, MOST_LINES)
        for name in names:
            value = frame.f_globals.get(name)
            if not isinstance(value, torch.Tensor) or value.grad_fn is not None or value.requires_grad:
                continue
            if value.dim() and not is_finite(value):
                return self._record(Birth.INPUT, value, site=self.site, where=f"`{name}`: {_where(value)}")
        return None

    def _bad_parameter(self, call: Call) -> NonfiniteRecord | None:
        for name, ref in call.model.parameters.items():
            value = ref()
            if value is not None and not is_finite(value):
                module = name.rpartition(".")[0]
                return self._record(
                    Birth.PARAMETER, value, model=call.model.name, module=module, parameter=name, site=call.site
                )
        return None

    def _bad_operator(self, call: Call) -> NonfiniteRecord | None:
        given = [value for value in tree_leaves((call.args, call.kwargs)) if isinstance(value, torch.Tensor)]
        if not all(is_finite(value) or is_mask(value) for value in given):
            return None  # what was computed before this model is to blame
        try:
            origin, bad = replay(call.module, call.args, call.kwargs, self._taps)
        except Exception:  # noqa: BLE001 - a forward that cannot run twice tells nothing; the search goes on without it
            return None
        if not bad:
            return None
        path = self._cast.path_of(origin.module) if origin is not None and origin.module is not None else None
        facts: dict[str, Any] = {"step": self.step, "model": call.model.name, "module": path or call.model.name}
        if origin is None:
            return NonfiniteRecord(birth=Birth.FORWARD, place=place_of(call.site), **facts)
        return NonfiniteRecord(
            birth=Birth.FORWARD,
            op=origin.op,
            place=place_of(origin.site),
            num_nan=origin.num_nan,
            num_inf=origin.num_inf,
            num_elements=origin.num_elements,
            operands=origin.operands,
            **facts,
        )

    def _bad_loss(self, each: Loss) -> NonfiniteRecord | None:
        output, given = each.output(), each.given()
        target = each.target() if each.target is not None else None
        if output is None or is_finite(output) or (given is not None and not is_finite(given)):
            return None
        if target is not None and not is_finite(target):
            return self._record(Birth.INPUT, target, site=each.site, where="the loss's target: " + _where(target))
        return self._record(Birth.FORWARD, output, op=each.name, site=each.site)

    def in_backward(self, bad: list[tuple[str, torch.Tensor]], loss: torch.Tensor | None) -> NonfiniteRecord:
        """Return the parameter nearest to the loss whose gradient is not finite, and the likeliest operator."""
        name, gradient = bad[-1]
        op, site = gradient_suspect(loss, self.site, self._cast.names)
        model = next((model.name for model in self._cast.models if name in model.parameters), None)
        return self._record(
            Birth.GRADIENT,
            gradient,
            model=model,
            module=name.rpartition(".")[0] or None,
            parameter=name,
            op=op,
            site=site or self.site,
            num_parameters=len(bad),
        )

    def _record(self, birth: Birth, value: torch.Tensor, *, site: Site | None, **facts: Any) -> NonfiniteRecord:
        dense = value.detach()
        dense = dense.coalesce().values() if dense.layout is torch.sparse_coo else dense
        return NonfiniteRecord(
            birth=birth,
            step=self.step,
            place=place_of(site),
            num_nan=int(torch.isnan(dense).sum()),
            num_inf=int(torch.isinf(dense).sum()),
            num_elements=dense.numel(),
            **facts,
        )


def _where(value: torch.Tensor) -> str:
    """Say which columns of a table, or which sample of a batch, hold the values."""
    bad = ~torch.isfinite(value.detach())
    if value.dim() == 2:  # noqa: PLR2004 - a table
        columns = bad.any(0).nonzero().flatten().tolist()
        more = f" and {len(columns) - MOST_COLUMNS} more" if len(columns) > MOST_COLUMNS else ""
        return f"columns {', '.join(map(str, columns[:MOST_COLUMNS]))}{more} of {value.shape[1]}"
    first = bad.nonzero()[0].tolist()
    return f"first at index {tuple(first)} of shape {tuple(value.shape)}"
