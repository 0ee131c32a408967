"""This file is the second run: code of the user's runs again, and leaves everything as it was."""

import contextlib
import io
import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from torchmagic.probes.held_state import HeldState
from torchmagic.probes.origin_purity import hook_is_quiet
from torchmagic.probes.origin_trace import storage_of
from torchmagic.probes.replay_wrappers import plain_saving
from torchmagic.probes.user_modes import on_users_device, tensors_as_they_are
from torchmagic.session.ignored_warnings import untouched_warnings
from torchmagic.tensors import accelerators

# Where a module keeps the hooks of the user's.
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@contextlib.contextmanager
def undisturbed(modules: Iterable[nn.Module], copies: dict[Any, torch.Tensor] | None = None) -> Iterator[None]:
    """Put back random generators, buffers and what modules hold and use, and keep prints from the cell.

    Args:
        modules: What is put back.
        copies: Gains the buffers, by the memory of the copies that stand in for them.
    """

    def copied(copy: torch.Tensor, original: torch.Tensor) -> None:
        if copies is not None:
            copies[storage_of(copy)] = original

    modules = list(modules)
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 - the user's global stream
    torch_state, devices = torch.get_rng_state(), accelerators.streams()
    held = HeldState(modules, copied)
    for part in modules:
        own = vars(part)
        own.update({name: _quiet_hooks(own[name]) for name in HOOKS if own.get(name)})
    silence = io.StringIO()
    try:
        quiet = contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence), untouched_warnings()
        with contextlib.ExitStack() as stack:
            for each in (*quiet, plain_saving(), tensors_as_they_are(), on_users_device()):
                stack.enter_context(each)
            yield
    finally:
        held.put_back()
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002 - see above
        torch.set_rng_state(torch_state)
        accelerators.put_back(devices)


def _quiet_hooks(hooks: Any) -> Any:
    return type(hooks)((key, hook) for key, hook in hooks.items() if hook_is_quiet(hook))
