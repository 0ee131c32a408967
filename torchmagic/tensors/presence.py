"""This file tells whether a tensor's numbers are there: whether they can be read at this place and at this time."""

from typing import Any, TypeGuard

import torch

from torchmagic.tensors.genuine import is_tensor

# Kinds of tensors whose operators are torch's own.
PLAIN = (torch.Tensor, torch.nn.Parameter)
_torch = torch._C  # noqa: SLF001 - none of these has another name
_level, _is_wrapped = _torch._functorch.maybe_current_level, _torch._functorch.is_functorch_wrapped_tensor  # noqa: SLF001
_mode, _FAKE = _torch._get_dispatch_mode, _torch._TorchDispatchModeKey.FAKE  # noqa: SLF001
_NOT_DISPATCHED = torch.Tensor.__torch_dispatch__


def is_transformed() -> bool:
    """Whether ``vmap``, ``grad`` or a fake mode runs: what an operator returns has no numbers then."""
    return _level() is not None or _mode(_FAKE) is not None


def has_numbers(tensor: torch.Tensor) -> bool:
    """Whether a tensor has numbers that can be asked for, not only a shape, and nothing runs that hides them."""
    kind = type(tensor)
    if kind not in PLAIN and (kind.__name__ == "FakeTensor" or not issubclass(kind, torch.Tensor)):
        return False  # of a mock torch would read memory that is none of a tensor's
    return not tensor.is_meta and not _is_wrapped(tensor) and not is_transformed() and not is_freed(tensor)


def is_at_hand(tensor: torch.Tensor) -> bool:
    """Whether a tensor is of the usual kind: strided, on the host, there, and nothing runs that hides its numbers."""
    if type(tensor) is not torch.Tensor or _is_wrapped(tensor) or _level() is not None or _mode(_FAKE) is not None:
        return False
    if not tensor.is_cpu or tensor.layout is not torch.strided or tensor.is_nested:
        return False
    return tensor.untyped_storage().nbytes() > 0 and tensor.numel() > 0


def is_freed(tensor: torch.Tensor) -> bool:
    """Whether a tensor's memory was given back, as offloading does with weights between their uses."""
    if type(tensor) not in PLAIN or tensor.layout is not torch.strided or tensor.is_meta or not tensor.numel():
        return False
    return not tensor.is_nested and not has_memory(tensor)  # reading it would end the process


def has_memory(tensor: torch.Tensor) -> bool:
    """Whether a strided tensor has the memory that its numbers need."""
    return tensor.untyped_storage().nbytes() > 0 or not tensor.numel()


def is_stored(tensor: torch.Tensor) -> bool:
    """Whether a tensor's numbers lie in its own memory; one whose class computes each operator itself has none."""
    return has_numbers(tensor) and type(tensor).__torch_dispatch__ is _NOT_DISPATCHED


def has_shape(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether a value is a tensor that has a shape: a ragged one, or one that was not made yet, has none."""
    return is_tensor(value) and not torch.nn.parameter.is_lazy(value) and not value.is_nested


def is_regular(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether a value is a tensor that can be taken apart into rows: all of its numbers are there, in one block."""
    return has_shape(value) and value.layout is torch.strided and is_stored(value)


def plain(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return a tensor as one of torch's own class, without its graph; None where its numbers are not stored.

    A class may give operators a meaning of its own, or raise.
    """
    if not is_stored(tensor):
        return None
    if type(tensor) in PLAIN:
        return tensor.detach()
    with _torch.DisableTorchFunctionSubclass():
        return tensor.detach().as_subclass(torch.Tensor)
