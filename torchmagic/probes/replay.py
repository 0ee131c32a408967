"""This file replays a model's forward on what it was given, to see which operator first made a non-finite value."""

import contextlib
import io
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.taps import Taps

# Operators that write infinities on purpose, as masks do: an infinity of theirs is no origin.
MASKS = frozenset({
    "full", "full_like", "new_full", "scalar_tensor", "fill", "fill_", "masked_fill", "masked_fill_", "where", "triu",
    "tril", "triu_", "tril_", "lift_fresh", "_to_copy", "clone", "detach", "copy_", "constant_pad_nd", "index_put",
    "index_put_", "input", "empty", "empty_like", "new_empty", "empty_strided",
})  # fmt: skip
# An operand is described by at most this many of its numbers.
MOST_OPERANDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """An operator that made a non-finite value: its name, module, line, operands and what it made."""

    op: str
    module: nn.Module | None
    site: Site | None
    operands: str
    num_nan: int
    num_inf: int
    num_elements: int
    mask: bool


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether all values are finite: one reduction, and a second look only when the sum says no."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or not tensor.numel() or tensor.is_meta:
        return True
    values = tensor.detach()
    if values.layout is not torch.strided:
        values = values.coalesce().values() if values.layout is torch.sparse_coo else values.values()
    total = values.sum(dtype=torch.float64) if values.is_floating_point() else values.abs().sum()
    return bool(torch.isfinite(total)) or bool(torch.isfinite(values).all())


def is_mask(tensor: torch.Tensor) -> bool:
    """Whether nothing but minus infinity is not finite, as in an attention mask that is added to scores."""
    return not bool(torch.isnan(tensor).any() | torch.isposinf(tensor).any())


def replay(module: nn.Module, args: Any, kwargs: Any, taps: Taps) -> tuple[Origin | None, bool]:
    """Run a module again on copies of its inputs, and leave everything as it was.

    Returns:
        The operator at the origin of a non-finite output (None when there is none), and whether the replay's output
        was non-finite at all.
    """
    trace = _Trace()
    copied_args, copied_kwargs = tree_map(_copy, (args, kwargs))
    trace.take(tree_leaves((copied_args, copied_kwargs)))
    with _undisturbed(module), taps.modules(trace.enter), taps.operators(trace.see):
        output = module(*copied_args, **copied_kwargs)
    bad = [each for each in tree_leaves(output) if isinstance(each, torch.Tensor) and not is_finite(each)]
    if not bad:
        return None, False
    return trace.origin_of(bad[0]), True


class _Trace:
    """Follows non-finite values from operator to operator."""

    def __init__(self) -> None:
        self._stack: list[nn.Module] = []
        self._origins: dict[int, Origin] = {}
        self._alive: list[torch.Tensor] = []

    def take(self, inputs: list[Any]) -> None:
        """Know the masks among the inputs: what they alone made infinite is no birth."""
        for each in inputs:
            if isinstance(each, torch.Tensor) and not is_finite(each):
                self._origins[each.untyped_storage().data_ptr()] = self._made("input", [], each)
                self._alive.append(each)

    def enter(self, module: nn.Module, args: Any) -> Any:
        self._stack.append(module)
        return lambda _: self._stack.pop()

    def see(self, op: Any, args: Any, kwargs: Any, output: Any) -> None:
        bad = [each for each in tree_leaves(output) if isinstance(each, torch.Tensor) and not is_finite(each)]
        if not bad:
            return
        inputs = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        origin = self._inherited(inputs, bad[0])
        if origin is None:
            origin = self._made(op._schema.name.split("::")[-1], inputs, bad[0])
        for each in bad:
            self._origins[each.untyped_storage().data_ptr()] = origin
            self._alive.append(each)

    def origin_of(self, tensor: torch.Tensor) -> Origin | None:
        return self._origins.get(tensor.untyped_storage().data_ptr())

    def _inherited(self, inputs: list[torch.Tensor], output: torch.Tensor) -> Origin | None:
        """Return the origin among the inputs; a NaN made from a mask's infinities has its origin here."""
        for each in inputs:
            origin = self._origins.get(each.untyped_storage().data_ptr())
            if origin is not None and not is_finite(each):
                born_here = origin.mask and bool(torch.isnan(output).any()) and not bool(torch.isnan(each).any())
                return None if born_here else origin
        return None

    def _made(self, name: str, inputs: list[torch.Tensor], output: torch.Tensor) -> Origin:
        num_nan = int(torch.isnan(output).sum())
        return Origin(
            op=name,
            module=self._stack[-1] if self._stack else None,
            site=site_of(sys._getframe(2)),
            operands="; ".join(_described(each) for each in inputs[:MOST_OPERANDS]),
            num_nan=num_nan,
            num_inf=int(torch.isinf(output).sum()),
            num_elements=output.numel(),
            mask=name in MASKS and num_nan == 0,
        )


@contextlib.contextmanager
def _undisturbed(module: nn.Module) -> Iterator[None]:
    """Put back random number generators, buffers and attributes of modules, and keep prints from the cell."""
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 - the user's global stream
    torch_state = torch.get_rng_state()
    cuda_states = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call] # torch
    attributes = [(part, dict(vars(part)), dict(part._buffers)) for part in module.modules()]
    for part, values, buffers in attributes:
        for name, buffer in buffers.items():
            part._buffers[name] = None if buffer is None else buffer.detach().clone()
        vars(part).update({n: v.copy() for n, v in values.items() if type(v) in (list, dict, set) and n[0] != "_"})
    try:
        with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
            yield
    finally:
        for part, values, buffers in attributes:
            vars(part).clear()
            vars(part).update(values)
            part._buffers.clear()
            part._buffers.update(buffers)
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002 - see above
        torch.set_rng_state(torch_state)
        if cuda_states:
            torch.cuda.set_rng_state_all(cuda_states)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _described(tensor: torch.Tensor) -> str:
    shape = "×".join(map(str, tensor.shape)) or "scalar"
    if not tensor.numel() or not tensor.is_floating_point():
        return f"{shape} {str(tensor.dtype).removeprefix('torch.')}"
    low, high = torch.aminmax(tensor.detach())
    zeros = tensor.numel() - int(torch.count_nonzero(tensor))
    return f"{shape} from {low.item():.4g} to {high.item():.4g}" + (
        f", {zeros} zero{'' if zeros == 1 else 's'}" if zeros else ""
    )
