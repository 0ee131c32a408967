"""This file watches what early stopping would want: whether the run ended with the weights of its best evaluation."""

import math
from dataclasses import dataclass

import torch

from torchmagic.probes.members import Model
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.probes.validation import Validation
from torchmagic.records.evaluation import StoppingRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# A print of the weights is made of so many parameters at most, evenly drawn: a step moves all of them.
MOST_PARAMETERS = 64


@dataclass(slots=True)
class _Best:
    """The best evaluation of one subject."""

    model: Model | None
    value: float = math.inf
    step: int = 0
    passes: int = 0
    at: int = 0
    weights: tuple[float, ...] = ()


class EarlyStopping:
    """Records the series ``eval_best`` and ``eval_since_best`` at each evaluation, and ``StoppingRecord`` at the end.

    What patience would have done is the analysis of the same name; only whether the weights at the end are those of the
    best evaluation has to be seen while they are there.
    """

    flush = nothing_waits

    def __init__(self, validation: Validation) -> None:
        self._recorder: Recorder | None = None
        self._subjects: dict[str, _Best] = {}
        validation.on_pass.append(self._passed)

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Wait for evaluations."""
        self._recorder = recorder

    def detach(self) -> None:
        """Compare the weights with those of the best evaluation."""
        if self._recorder is not None:
            for subject, best in self._subjects.items():
                self._tell(self._recorder, subject, best)
            self._recorder = None
        self._subjects.clear()

    def _passed(self, subject: str, value: float, model: Model | None) -> None:
        if self._recorder is None:
            return
        best = self._subjects.setdefault(subject, _Best(model))
        if value < best.value:
            best.value, best.at, best.step = value, best.passes, self._recorder.step
            best.model, best.weights = model, _print_of(model)
        best.passes += 1
        if math.isfinite(best.value):
            self._recorder.append("eval_best", (best.value,), (subject,))
        self._recorder.append("eval_since_best", (best.passes - 1 - best.at,), (subject,))

    @staticmethod
    def _tell(recorder: Recorder, subject: str, best: _Best) -> None:
        if not math.isfinite(best.value):
            return
        recorder.add(
            StoppingRecord(
                subject=subject,
                num_passes=best.passes,
                best=best.value,
                best_step=best.step,
                since_best=best.passes - 1 - best.at,
                steps_since_best=recorder.step - best.step,
                holds_best=_print_of(best.model) == best.weights if best.weights else None,
            )
        )


def _print_of(model: Model | None) -> tuple[float, ...]:
    """Return the lengths of a model's parameters; empty where they cannot be read."""
    found = [value for ref in model.parameters.values() if (value := ref()) is not None] if model is not None else []
    plain = [
        value.detach()
        for value in found
        if value.layout is torch.strided and value.is_floating_point() and value.numel() and not value.is_meta
    ]
    return tuple(norms(plain[:: len(plain) // MOST_PARAMETERS + 1]))
