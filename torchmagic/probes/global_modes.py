"""This file watches torch's global modes: which of them an earlier cell has left on."""

from collections.abc import Callable
from typing import Any

import torch

from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.notebook import GlobalModesRecord
from torchmagic.session.recorder import Recorder


def _default_device() -> torch.device:
    """Return the default device; older versions of torch raise where one was set and taken back."""
    try:
        return torch.get_default_device()
    except AttributeError:
        return torch.device("cpu")


# How a mode is read, and what it is in a fresh kernel, by the call that changes it.
MODES: dict[str, tuple[Callable[[], Any], Any]] = {
    "torch.set_grad_enabled": (torch.is_grad_enabled, True),
    "torch.inference_mode": (torch.is_inference_mode_enabled, False),
    "torch.set_default_dtype": (torch.get_default_dtype, torch.float32),
    "torch.set_default_device": (_default_device, torch.device("cpu")),
    "torch.use_deterministic_algorithms": (torch.are_deterministic_algorithms_enabled, False),
    "torch.autocast": (torch._C._is_any_autocast_enabled, False),
}


class GlobalModes:
    """Records ``GlobalModesRecord`` at the end of a run that began with modes other than a fresh kernel's."""

    flush = nothing_waits

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._changed: dict[str, Any] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Read the modes with which the run begins."""
        self._recorder = recorder
        values = {call: read() for call, (read, _) in MODES.items()}
        self._changed = {call: value for call, value in values.items() if value != MODES[call][1]}

    def detach(self) -> None:
        """Tell what was found, and what of it is still so."""
        recorder, self._recorder = self._recorder, None
        if recorder is None or not self._changed:
            return
        kept = tuple(call for call, value in self._changed.items() if MODES[call][0]() == value)
        recorder.add(GlobalModesRecord(changed={call: str(value) for call, value in self._changed.items()}, kept=kept))
