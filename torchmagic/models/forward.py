"""This file is one forward under eyes: the only place of the room that hooks modules and enters torch's modes."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch._ops import OpOverload
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchmagic.models.flops import flops_of
from torchmagic.models.seen import Deed, Seen, Stack
from torchmagic.models.shapes import shapes_of
from torchmagic.models.spared import Spared, storage_key, storages_of
from torchmagic.models.streams import untouched_globals
from torchmagic.tensors.reduce import UNREADABLE_ERRORS


class _SavedIsNeededError(RuntimeError):
    """The forward itself runs a backward, and asks for what autograd saved."""


def watched(module: nn.Module, deed: Deed, *, spared: Spared, ignored: set[int]) -> Seen:
    """Run a model and see shapes, operations, memory for the backward, and what is used.

    Args:
        module: The model, or its twin.
        deed: What runs it.
        spared: Guards memory that must not change.
        ignored: Keys of storages that are no activations.

    Returns:
        What was seen; an error of the model's is in it and not raised.
    """
    seen = _run(module, deed, spared, _Saving(Seen(), ignored))
    if isinstance(seen.error, _SavedIsNeededError):
        return _run(module, deed, spared, _Saving(Seen(), ignored, keep=True))
    return seen


def timed(module: nn.Module, deed: Deed, *, synchronise: Deed) -> Seen:
    """Run a model, without recording a graph, and see how long each module takes; what it writes is not put back.

    Args:
        module: The model, or its twin.
        deed: What runs it.
        synchronise: Waits for a device that works on its own; nothing on a CPU.
    """
    seen = Seen()
    stack = Stack(seen, synchronise=synchronise)
    with _plain_paths(), torch.no_grad(), _hooked(module, stack):
        start = time.perf_counter()
        try:
            _called(module, deed, stack)
        except Exception as error:  # noqa: BLE001 - the user's model
            seen.error = error
        synchronise()
        seen.seconds = time.perf_counter() - start
    return seen


def _run(module: nn.Module, deed: Deed, spared: Spared, saving: "_Saving") -> Seen:
    seen = Seen()
    stack = Stack(seen)
    saving.stack = stack
    saved = torch.autograd.graph.saved_tensors_hooks(saving.pack, saving.unpack)
    with _plain_paths(), torch.enable_grad(), _hooked(module, stack):
        try:
            with saved, _Operators(stack, spared):
                seen.output = shapes_of(_called(module, deed, stack))
        except Exception as error:  # noqa: BLE001 - the user's model, which may raise anything
            seen.failed, seen.failed_inputs = stack.failed_with(error)
            seen.error = error.with_traceback(None)
        finally:
            seen.wrote = spared.put_back()
    return seen


def _called(module: nn.Module, deed: Deed, stack: Stack) -> Any:
    if not isinstance(module, torch.jit.ScriptModule):
        return deed()
    stack.enter(module, getattr(deed, "args", ()), getattr(deed, "keywords", {}))
    result = deed()
    stack.leave(module, (), {}, result)
    return result


def ordinary_tensors() -> Any:
    """Return a context in which tensors are made as outside inference mode, whatever the user is in."""
    return torch.inference_mode(mode=False)


def without_graph() -> Any:
    """Return a context in which no graph is recorded."""
    return torch.no_grad()


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch
    """Sees each operator before and after it runs."""

    supports_higher_order_operators = True

    def __init__(self, stack: Stack, spared: Spared) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch
        self._stack, self._spared = stack, spared

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):  # one that calls functions; what these do is seen on its own
            return func(*args, **kwargs)
        self._spared.before(func, args, kwargs)
        read = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        seen = self._stack.seen
        seen.used.update(storages_of(read))
        result = func(*args, **kwargs)
        try:
            flops = flops_of(func, args, kwargs, result)
        except UNREADABLE_ERRORS:  # a formula that knows no nested or other special tensors
            flops = None
            seen.uncounted.add(str(func._overloadpacket))  # noqa: SLF001
        if flops is not None:
            self._stack.add(flops=flops)
        elif func.namespace not in ("aten", "prim", "prims"):
            seen.uncounted.add(f"{func.namespace}.{func._overloadpacket.__name__}")  # noqa: SLF001
        return result

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare the import of the compiler, which takes seconds: nothing is compiled in a forward of ours."""
        return False


class _Saving:
    """Counts what autograd saves for a backward, and lets go of it: nobody will run one."""

    def __init__(self, seen: Seen, ignored: set[int], *, keep: bool = False) -> None:
        self.stack, self._ignored, self._keep = Stack(seen), ignored, keep
        # A weak reference keeps the address of a storage from being given to another one.
        self._counted: dict[int, StorageWeakRef] = {}

    def pack(self, tensor: torch.Tensor) -> Any:
        key = storage_key(tensor)
        if key is not None and key not in self._ignored and key not in self._counted:
            storage = tensor.untyped_storage()
            self._counted[key] = StorageWeakRef(storage)  # type: ignore[no-untyped-call] # torch
            self.stack.add(saved=storage.nbytes())
        return tensor if self._keep else None

    def unpack(self, packed: Any) -> Any:
        if packed is None:
            raise _SavedIsNeededError
        return packed


@contextlib.contextmanager
def _hooked(module: nn.Module, stack: Stack) -> Iterator[None]:
    handles = []
    for part in module.modules():
        if isinstance(part, torch.jit.ScriptModule):  # takes no hooks
            continue
        handles.append(part.register_forward_pre_hook(stack.enter, prepend=True, with_kwargs=True))
        handles.append(part.register_forward_hook(stack.leave, with_kwargs=True, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def _plain_paths() -> Iterator[None]:
    """Run what is written: without compilers, and without kernels that stand for a whole layer."""
    fast = torch.backends.mha.get_fastpath_enabled()
    # Asking for a stance loads the compiler, which takes seconds where nobody has used it.
    stance = getattr(torch.compiler, "set_stance", None) if "torch._dynamo.eval_frame" in sys.modules else None
    torch.backends.mha.set_fastpath_enabled(value=False)
    try:
        with untouched_globals(), stance("force_eager") if stance else contextlib.nullcontext():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(value=fast)
