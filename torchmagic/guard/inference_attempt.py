"""This file is one inference under way: where a model runs, how often it did, and what came of it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from torchmagic.guard.batch_fields import fields_of
from torchmagic.guard.error_kinds import ErrorCategory
from torchmagic.guard.extent import extent_of
from torchmagic.guard.inputs import Specs, validate_model_input
from torchmagic.models.calls import batch_call
from torchmagic.models.forward import without_graph
from torchmagic.models.sources import unwrapped
from torchmagic.models.twin import Twin

CPU = torch.device("cpu")


class NonFiniteOutputError(ArithmeticError):
    """An output that has values which are not finite; it is told, not raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceResult:
    """What came of an inference.

    Args:
        success: Whether there is an output, and all of it is finite.
        data: The output as the model gave it, on ``device``, without a graph; None without success.
        error_message: What went wrong, in one line; empty on success.
        category: What the error is about; None on success.
        attempts: How often the model was run.
        device: Where it ran last.
        seconds: How long all of it took, waiting included.
        notes: What was done on the way, such as a change of device; one line each.
    """

    success: bool
    data: Any = None
    error_message: str = ""
    category: ErrorCategory | None = None
    attempts: int = 0
    device: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Attempt:
    """One inference under way: where it runs, how often it did, and what it gave."""

    def __init__(self, model: nn.Module, data: Any, device: torch.device) -> None:
        self._model, self._data, self.device = model, data, device
        self.count, self.is_refused = 0, False
        self.notes: list[str] = []
        self._output: Any = None

    def refusal(self, spec: Specs) -> Exception | None:
        """Return why the input is not let in."""
        try:
            if spec is not None:
                validate_model_input(self._data, spec=spec)
        except (ValueError, TypeError) as error:
            self.is_refused = True
            return error
        return None

    def run(self) -> Exception | None:
        """Run the model once; return what it raised."""
        self.count += 1
        try:
            self._output = _run(self._model, self._data, self.device)
        except Exception as error:  # noqa: BLE001 - the user's model, which may raise anything
            return error
        return None

    def nonfinite(self) -> Exception | None:
        """Return what is wrong with the output, if something is."""
        for place, tensor in fields_of(self._output):
            extent = extent_of(tensor)
            if extent is not None and extent.num_nonfinite:
                infinite = extent.num_posinf + extent.num_neginf
                which = f" {place}" if place else ""
                said = f"the output{which} contains {extent.num_nan} NaN and {infinite} infinite values"
                return NonFiniteOutputError(said)
        return None

    def result(self, seconds: float, *, message: str = "", category: ErrorCategory | None = None) -> InferenceResult:
        """Return what there is to say."""
        return InferenceResult(
            success=not message,
            data=None if message else self._output,
            error_message=message,
            category=category,
            attempts=self.count,
            device=str(self.device),
            seconds=seconds,
            notes=tuple(self.notes),
        )


def _run(model: nn.Module, data: Any, device: torch.device) -> Any:
    inner, _ = unwrapped(model)
    if _same(device_of(model), device):
        call = batch_call(inner, data)
        with _evaluating(model), without_graph():
            return model(*call.args, **call.kwargs)
    twin = Twin(inner).module.to(device)
    call = batch_call(twin, data)
    with _evaluating(twin), without_graph():
        return twin(*call.args, **call.kwargs)


@contextlib.contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Set the mode of each module, not by ``eval()``: a class of the user's may do more there."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in modes:
            module.training = False
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def device_of(model: nn.Module) -> torch.device:
    """Return where a model's first parameter or buffer is; the CPU without one."""
    first = next((each for each in (*model.parameters(), *model.buffers())), None)
    return CPU if first is None else first.device


def _same(device: torch.device, wanted: torch.device) -> bool:
    return device.type == wanted.type and wanted.index in (None, device.index)
