"""This file is the reductions over many tensors at once, with one transfer to the host."""

import math
from collections.abc import Sequence
from operator import mul
from typing import Any

import torch

from torchmagic.tensors.exact import exact_moments
from torchmagic.tensors.presence import PLAIN, has_memory, is_freed, plain

# Up to so many numbers, which a core's second-level cache holds, packing tensors into one costs less than going
# through them one by one (measured on a CPU, from 6 tensors to 200).
SMALL = 1 << 18
# Of so few the copy costs more: what it displaces in the cache, the training wants again.
FEW = 8
SINGLES = (torch.float32, torch.float64)
FREED = "its memory was freed"
# What torch raises for tensors without storage, packed types, and subclasses that lack an operator.
flatten_dense_tensors: Any = torch._C._nn.flatten_dense_tensors  # noqa: SLF001 - what torch's helper calls
UNREADABLE_ERRORS = (RuntimeError, NotImplementedError, TypeError, AttributeError)


def values_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor's stored values as a strided tensor without gradient: a sparse one's values, a shard's part."""
    if type(tensor) not in PLAIN:
        local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
        stored = plain(local)
        tensor = local if stored is None else stored
    if is_freed(tensor):
        raise RuntimeError(FREED)
    tensor = tensor.detach()
    if tensor.layout is torch.strided:
        return tensor
    if tensor.layout is torch.sparse_coo:
        return tensor.coalesce().values()
    return tensor.values() if tensor.layout is not torch._mkldnn else tensor.to_dense()  # type: ignore[attr-defined] # noqa: SLF001 - the layout has no other name


def is_measurable(tensor: torch.Tensor) -> bool:
    """Whether a tensor holds numbers that a norm can be taken of."""
    if is_single(tensor):  # the usual case, by the short way
        return True
    if tensor.is_meta or type(tensor).__name__ == "FakeTensor" or tensor.is_quantized:
        return False
    if torch.nn.parameter.is_lazy(tensor) or is_freed(tensor):
        return False
    return tensor.is_floating_point() or tensor.is_complex()


def is_single(tensor: torch.Tensor) -> bool:
    """Whether a tensor is of the plainest kind, as ``is_single_kind`` has it, and there."""
    return is_single_kind(tensor) and not tensor.is_meta and has_memory(tensor)


def is_single_kind(tensor: torch.Tensor) -> bool:
    """Whether a tensor is strided, in single or double precision, and of torch's own class; not whether it is there."""
    return tensor.dtype in SINGLES and tensor.layout is torch.strided and type(tensor) in PLAIN


def norms(tensors: Sequence[torch.Tensor]) -> list[float]:
    """Return the L2 norm of each tensor; NaN and infinity come through, an overflow of the squares does not.

    Half types are accumulated in float32, sparse tensors count by their values, complex ones by their magnitudes, and
    what cannot be read, such as a meta tensor, as 0.
    """
    return norms_and(tensors, ())[0]


def norms_and(tensors: Sequence[torch.Tensor], scalars: Sequence[torch.Tensor]) -> tuple[list[float], list[float]]:
    """Return the L2 norm of each tensor, as ``norms`` does, and the values of zero-dim tensors by the same transfer."""
    if not tensors:
        return [], fetch(scalars)
    try:
        dense = [tensor if is_single(tensor) else _ready(tensor) for tensor in tensors]
        found = _fetched_norms(dense, scalars)
    except UNREADABLE_ERRORS:
        return [_norm_alone(tensor) for tensor in tensors], fetch(scalars)
    return _exact_where_broken(found[: len(tensors)], tensors), found[len(tensors) :]


def _fetched_norms(dense: list[torch.Tensor], scalars: Sequence[torch.Tensor]) -> list[float]:
    together = torch._foreach_norm(dense, 2)  # noqa: SLF001 - the batched norm that clip_grad_norm_ uses
    return fetch([*together, *scalars] if scalars else together)


def _exact_where_broken(found: list[float], tensors: Sequence[torch.Tensor]) -> list[float]:
    if not math.isfinite(sum(found)):
        found = [
            value if math.isfinite(value) else _norm_alone(tensor) for tensor, value in zip(tensors, found, strict=True)
        ]
    return found


def fetch(scalars: Sequence[torch.Tensor]) -> list[float]:
    """Return the values of zero-dim tensors: one by one on the CPU, in one transfer from a device."""
    if all(scalar.device.type == "cpu" for scalar in scalars):
        return [scalar.item() for scalar in scalars]
    first = next(scalar.device for scalar in scalars if scalar.device.type != "cpu")
    wide = torch.float64 if first.type == "cuda" else torch.float32  # not every device knows float64
    places: dict[torch.dtype, list[int]] = {}
    for place, scalar in enumerate(scalars):
        places.setdefault(scalar.dtype, []).append(place)
    # those of one type are cast together: each cast is a kernel that has to be launched
    parts = [torch.stack([scalars[place].to(first) for place in each]).to(wide) for each in places.values()]
    values = (parts[0] if len(parts) == 1 else torch.cat(parts)).tolist()
    order = [place for each in places.values() for place in each]
    return [value for _, value in sorted(zip(order, values, strict=True))]


def total_norm(values: Sequence[float]) -> float:
    """Return the L2 norm of all tensors together from their norms; NaN and infinity come through."""
    total = math.sqrt(sum(map(mul, values, values)))
    return total if math.isfinite(total) or any(map(math.isnan, values)) else math.hypot(*values)


def packs_well(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether these tensors, or ones like them, are so small and plain that the norm of all is taken at once."""
    if not tensors or any(type(tensor) not in PLAIN for tensor in tensors):
        return False
    if sum(tensor.numel() for tensor in tensors) > SMALL:
        return False
    kinds = {(tensor.dtype, tensor.device.type, tensor.layout) for tensor in tensors}
    return kinds in ({(torch.float32, "cpu", torch.strided)}, {(torch.float64, "cpu", torch.strided)})


def small_norm(tensors: Sequence[torch.Tensor]) -> float | None:
    """Return the L2 norm of tensors together, by the cheapest way there is for small ones; None where that fails.

    Args:
        tensors: On the host, strided, and of single or double precision; any shapes.
    """
    try:
        if len(tensors) <= FEW:
            squares = 0.0
            for norm in torch._foreach_norm(list(tensors), 2):  # noqa: SLF001 - the batched norm that clip_grad_norm_ uses
                value = norm.item()
                squares += value * value
        else:
            flat = flatten_dense_tensors(tensors)
            squares = flat.dot(flat).item()
    except RuntimeError:  # a gradient of another kind than its parameter, such as a sparse one
        return None
    return math.sqrt(squares) if math.isfinite(squares) else None


def quick_total(tensors: Sequence[torch.Tensor], *, pack: bool) -> float:
    """Return the L2 norm of all tensors together by the cheapest way there is; NaN and infinity come through.

    Args:
        tensors: Tensors of any shapes.
        pack: What ``packs_well`` said of them.
    """
    total = small_norm(tensors) if pack else None
    return total_norm(norms(tensors)) if total is None else total


def _norm_alone(tensor: torch.Tensor) -> float:
    try:
        return exact_moments(values_of(tensor)).norm if is_measurable(tensor) else 0.0
    except UNREADABLE_ERRORS:
        return 0.0


def _ready(tensor: torch.Tensor) -> torch.Tensor:
    values = values_of(tensor)
    if values.is_complex():
        return values.abs()
    return values if values.dtype in SINGLES else values.float()
