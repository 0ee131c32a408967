"""This file is the taps: the one place that hooks torch, and turns what torch does into events."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.optim import optimizer as optimizers
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import dataloader

from torchmagic.probes import function_wrappers, scaler_wrappers, wrappers
from torchmagic.probes.patches import Patches
from torchmagic.probes.sites import is_users
from torchmagic.probes.wrappers import frame_at, now

Listener = Callable[..., None]
LOSSES = (
    *(name for name in dir(functional) if name.endswith("_loss")),
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "kl_div",
)
EVENTS = (
    "root_begin",  # (module, args, kwargs, frame)
    "root_end",  # (module, args, kwargs, output, nanoseconds)
    "leaf",  # (module, args, output); only while ``sees_leaves``
    "loss",  # (name, args, kwargs, output, frame)
    "softmax",  # (output, frame)
    "relu",  # (output, frame), for calls of the function; only while ``sees_leaves``
    "backward_begin",  # (tensors, frame)
    "backward_end",  # (tensors, nanoseconds)
    "clip",  # (total norm before clipping)
    "scaled",  # (tensor, scaled tensor)
    "step_begin",  # (optimizer, frame)
    "step_end",  # (optimizer, nanoseconds)
    "batch",  # (loader iterator, batch, nanoseconds)
    "mode",  # (module, training, frame)
    "subtraction",  # (left, right, output, frame); only after ``see_subtractions``
)
# Events of which nothing is computed, so that gradients need not be switched off for their listeners.
WITHOUT_TENSORS = frozenset({"root_end", "backward_end", "batch", "mode", "scaled", "softmax"})


class Taps:
    """Hooks torch while open, and hands events to listeners.

    Listeners run with gradients off and unseen by the taps themselves, so that a probe may call torch. What a
    listener raises goes to ``on_failure`` with its name and is never the user's, unless its type is in ``loud``.

    Args:
        spend: Told the nanoseconds spent in listeners.
        on_failure: Told the listener's owner and the exception.
        loud: Exception types that a listener raises on purpose into the user's code.
    """

    def __init__(
        self,
        *,
        spend: Callable[[int], None],
        on_failure: Callable[[object, Exception], None],
        loud: tuple[type[Exception], ...] = (),
    ) -> None:
        self.sees_leaves = False
        self.sees_modules = False
        self.spent = 0
        self.stack: list[nn.Module] = []
        self.grad_enabled = True
        self._spend, self._on_failure, self._loud = spend, on_failure, loud
        self._listeners: dict[str, list[Listener]] = {event: [] for event in EVENTS}
        self._patches = Patches()
        self._subtraction = Patches()
        self._handles: list[Any] = []
        self._warnings: list[str] = []
        self.depth = 0
        self.quiet = True
        self._step_began = 0

    def on(self, event: str, listener: Listener) -> None:
        """Hand every event of this name to the listener."""
        self._listeners[event].append(listener)

    def drop(self, owner: object) -> None:
        """Stop handing events to an object's methods."""
        for event, listeners in self._listeners.items():  # new lists: an event may be under way
            self._listeners[event] = [each for each in listeners if getattr(each, "__self__", None) is not owner]

    def open(self) -> None:
        """Hook torch."""
        self._replace(nn.Module, "__call__", wrappers.wrap_call)
        self._replace(nn.Module, "train", wrappers.wrap_train)
        self._replace(torch.autograd, "backward", wrappers.wrap_backward)
        self._replace(dataloader._BaseDataLoaderIter, "__next__", wrappers.wrap_next)
        for name in LOSSES:
            self._replace(functional, name, function_wrappers.wrap_loss)
        for owner in (functional, torch, torch.Tensor):
            self._replace(owner, "softmax", function_wrappers.wrap_softmax)
            self._replace(owner, "relu", function_wrappers.wrap_relu)
        for owner in (nn.utils, nn.utils.clip_grad):
            self._replace(owner, "clip_grad_norm_", wrappers.wrap_clip)
        self._replace(torch.amp.GradScaler, "scale", scaler_wrappers.wrap_scale)
        self._handles = [
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        self.quiet = False

    def close(self) -> None:
        """Leave torch as it was found; safe to call twice."""
        self.quiet = True
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self.see_subtractions(seen=False)
        self._patches.undo()

    def see_subtractions(self, *, seen: bool) -> None:
        """Switch the wrapper of tensor subtraction, which is too dear to be on all the time."""
        if not seen:
            self._subtraction.undo()
        elif self._handles and not self._subtraction:
            self._subtraction.replace(torch.Tensor, "__sub__", lambda original: wrappers.wrap_sub(self, original))

    @contextmanager
    def operators(self, seen: Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]) -> Iterator[None]:
        """Hand every operator that runs inside to ``seen(op, args, kwargs, output)``."""

        class Watcher(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                output = func(*args, **(kwargs or {}))
                seen(func, args, kwargs or {}, output)
                return output

        with Watcher():  # type: ignore[no-untyped-call] # torch
            yield

    @contextmanager
    def modules(self, seen: Callable[[nn.Module, tuple[Any, ...]], Callable[[Any], None]]) -> Iterator[None]:
        """Call ``seen(module, args)`` before every module that runs inside, and its answer with the output."""

        def wrap(original: Any) -> Any:
            def called(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
                done = seen(module, args)
                output = original(module, *args, **kwargs)
                done(output)
                return output

            return called

        patches = Patches()
        patches.replace(nn.Module, "__call__", wrap)
        try:
            yield
        finally:
            patches.undo()

    def emit(self, event: str, *arguments: Any) -> None:
        """Hand an event to its listeners."""
        listeners = self._listeners[event]
        if not listeners or self.quiet:
            return
        began = now()
        self.quiet = True
        self.grad_enabled = event not in WITHOUT_TENSORS and torch.is_grad_enabled()
        if self.grad_enabled:
            torch._C._set_grad_enabled(False)  # noqa: FBT003 - torch's signature
        try:
            for listener in listeners:
                try:
                    listener(*arguments)
                except self._loud:
                    raise
                except Exception as error:  # noqa: BLE001 - the wall: a probe's failure is never the user's
                    self._on_failure(getattr(listener, "__self__", listener), error)
        finally:
            if self.grad_enabled:
                torch._C._set_grad_enabled(True)  # noqa: FBT003 - torch's signature
            self.quiet = False
            took = now() - began
            self.spent += took
            self._spend(took)
        while self._warnings:
            _warn_at_user(self._warnings.pop(0))

    def warn(self, sentence: str) -> None:
        """Warn the user at the line that runs, once the event that is under way is over."""
        self._warnings.append(sentence)

    def _replace(self, owner: Any, name: str, wrap: Callable[["Taps", Any], Any]) -> None:
        self._patches.replace(owner, name, lambda original: wrap(self, original))

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.emit("step_begin", optimizer, frame_at(1))
        self._step_began = now() - self.spent

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.emit("step_end", optimizer, now() - self.spent - self._step_began)


def _warn_at_user(sentence: str) -> None:
    """Warn as the user's own line would: under its name, and once if it comes again."""
    frame: FrameType | None = frame_at(2)
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    if frame is None:
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)
        return
    scope = frame.f_globals
    warnings.warn_explicit(
        sentence,
        RuntimeWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=scope.get("__name__", "__main__"),
        registry=scope.setdefault("__warningregistry__", {}),
    )
