"""This file is ``TrainingDebugger``: looks at each step of a training loop of the user's and counts what is wrong."""

import math
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from torchmagic.api.debugging.alive import register
from torchmagic.api.debugging.ledger import MOST_KEPT
from torchmagic.api.debugging.levelled import DETAILED, FULL, Levelled
from torchmagic.api.debugging.loss_number import loss_number
from torchmagic.api.debugging.memory_watch import MemoryWatch
from torchmagic.api.debugging.modes import DebugLevel
from torchmagic.api.debugging.step_gradients import KeptStatistics, Statistics, looked_at
from torchmagic.api.debugging.step_judgement import EXPLOSION, LOSS, VANISHING, Judged, Judgement
from torchmagic.api.debugging.usual_training import UsualTraining
from torchmagic.models.parameters import models_in, parameters_of
from torchmagic.models.tree import is_lazy
from torchmagic.tensors.reduce import norms

_MOST_IN_CONTEXT = 5


class TrainingDebugger(Levelled):
    """Looks at a training loop step by step, between ``loss.backward()`` and ``optimizer.step()``.

    ``basic`` tells of losses and gradients that are not finite, of losses that jump, and the gradient norm.
    ``intermediate`` also tells of gradients that explode or vanish; ``advanced`` also has statistics of each gradient,
    parameters that are not finite, and memory with its trend; ``expert`` and ``extreme`` also have the context of an
    anomaly, and keep the statistics of the last steps in ``tensor_history``. Nothing of the training is changed, and
    neither model nor tensors are held.

    Args:
        level: How closely to look: a ``DebugLevel`` or its name.
        explosion_threshold: Gradient norm of a parameter above which every step counts as an explosion. None names the
            parameters above 10, and counts a step where the total norm is also out of proportion: not finite, or above
            1,000 and either far above the norms before it or with a loss twice that of the beginning.
        vanishing_threshold: Gradient norm of a weight below which every step counts as vanishing. None names those
            below 0.000001, and counts a step where they are a tenth of the weights or more and the loss does not fall.
        max_history: Steps that are kept whole.

    Raises:
        ValueError: If a value is none of those; one line.

    Example:
        >>> model = nn.Linear(2, 1)
        >>> debugger = TrainingDebugger("advanced")
        >>> loss = model(torch.ones(4, 2)).square().mean()
        >>> loss.backward()
        >>> debugger.monitor_training_step(model, loss, 0)["anomalies"]
        []
    """

    def __init__(
        self,
        level: DebugLevel | str = DebugLevel.BASIC,
        *,
        explosion_threshold: float | None = None,
        vanishing_threshold: float | None = None,
        max_history: int = MOST_KEPT,
    ) -> None:
        super().__init__(level, max_history)
        self._judgement = Judgement(explosion_threshold, vanishing_threshold)
        self._usual: WeakKeyDictionary[nn.Module, UsualTraining] = WeakKeyDictionary()
        self._memory = MemoryWatch()
        self._kept = KeptStatistics()
        register(self, "training")

    @property
    def tensor_history(self) -> list[tuple[int, Statistics]]:
        """Statistics of the gradients of the last steps, oldest first, as (step, statistics by parameter name)."""
        return self._kept.steps

    def monitor_training_step(
        self, model: nn.Module, loss: Any, step: int, *, scaler: torch.amp.GradScaler | None = None
    ) -> dict[str, Any]:
        """Look at one step: call it after ``backward()`` and before the step of the optimizer.

        Args:
            model: The model that is trained.
            loss: Its loss: a tensor, whose mean is taken if it has several elements, or a number.
            step: The number of the step.
            scaler: The gradient scaler that the loss was scaled by, unless ``scaler.unscale_`` has been called: norms
                are told without its factor, and gradients that are not finite, which it skips, count for nothing.

        Returns:
            ``step``; ``loss``; ``gradient_norm``, L2 of all gradients together; ``has_nan`` and ``has_inf``, of loss or
            gradients; ``is_anomaly``; ``anomalies``, one line each; ``exploded`` and ``vanished``, names of parameters
            beyond the thresholds; from level advanced on ``gradients`` (statistics by name), ``nonfinite_parameters``
            (names), ``memory`` (MB of the process), ``gpu_memory`` (MB; None without CUDA) and ``memory_trend`` (text;
            empty while nothing is known); from level expert on ``context``, empty where nothing is wrong: ``losses``,
            the last finite ones, and ``largest_gradients``, norms by name.

        Raises:
            TypeError: If the model or the loss is none; one line.
        """
        parameters = {name: each for name, each in parameters_of(model).items() if not is_lazy(each)}
        usual = self._usual_of(model)
        gradients, total = looked_at(parameters, scaler, closely=self._level is not DebugLevel.BASIC)
        told = self._judgement.of(
            loss_number(loss),
            gradients,
            weights={name for name, each in parameters.items() if each.dim() > 1},
            usual=usual,
            is_scaled=scaler is not None and scaler.is_enabled(),
            looks_at_size=self._level is not DebugLevel.BASIC,
        )
        entry = _entry(step, gradients, total, told)
        if self._level in DETAILED:
            lengths = zip(parameters, norms([each.detach() for each in parameters.values()]), strict=True)
            entry["nonfinite_parameters"] = [name for name, length in lengths if not math.isfinite(length)]
            entry |= self._memory.look()
        if self._level in FULL:
            self._kept.add(step, gradients)
            entry["context"] = _context(gradients, usual) if told.kinds else {}
        self._ledger.add(entry, told.kinds)
        return {**entry, "gradients": gradients} if self._level in DETAILED else dict(entry)

    def get_training_summary(self) -> dict[str, Any]:
        """Return what was counted since the beginning or since the history was cleared.

        Returns:
            ``total_steps``; steps with an anomaly of any kind (``anomaly_steps``), with gradients that exploded or are
            not finite (``gradient_explosions``), that vanished (``gradient_vanishing``), with a loss that jumped or is
            not finite (``loss_anomalies``); and these as shares of all steps, 0 to 1: ``anomaly_rate``,
            ``gradient_explosion_rate``, ``gradient_vanishing_rate``, ``loss_anomaly_rate``.
        """
        summary, ledger = self._ledger.summary(), self._ledger
        anomalies = summary["total_anomalies"]
        explosions, vanishings, losses = (ledger.count(kind) for kind in (EXPLOSION, VANISHING, LOSS))
        return {
            "total_steps": summary["total_steps"],
            "anomaly_steps": anomalies,
            "gradient_explosions": explosions,
            "gradient_vanishing": vanishings,
            "loss_anomalies": losses,
            "anomaly_rate": ledger.rate(anomalies),
            "loss_anomaly_rate": ledger.rate(losses),
            "gradient_explosion_rate": ledger.rate(explosions),
            "gradient_vanishing_rate": ledger.rate(vanishings),
        }

    def get_debug_summary(self) -> dict[str, Any]:
        """Return what was counted, in short.

        Returns:
            ``total_steps``; ``total_anomalies``, the steps with one; ``debug_history_length``; the four rates of the
            training summary; ``level``; ``memory_leak`` and ``memory_growth_per_step`` (MB), known from level advanced.
        """
        rates = {name: value for name, value in self.get_training_summary().items() if name.endswith("_rate")}
        return {**self._ledger.summary(), **rates, "level": self._level.value, **self._memory.summary()}

    def clear_debug_history(self) -> None:
        """Forget what was counted and kept; what is usual for the loss and the gradients is remembered."""
        self._ledger.clear()
        self._memory.clear()
        self._kept.clear()

    def _usual_of(self, model: nn.Module) -> UsualTraining:
        key = next(iter(models_in(model).values()))
        usual = self._usual.get(key)
        if usual is None:
            usual = self._usual[key] = UsualTraining()
        return usual


def _context(gradients: Statistics, usual: UsualTraining) -> dict[str, Any]:
    ordered = sorted(gradients.values(), key=lambda each: math.inf if math.isnan(each.norm) else each.norm)
    return {
        "losses": usual.losses,
        "largest_gradients": {each.parameter: each.norm for each in reversed(ordered[-_MOST_IN_CONTEXT:])},
    }


def _entry(step: int, gradients: Statistics, total: float, told: Judged) -> dict[str, Any]:
    return {
        "step": step,
        "loss": told.loss,
        "gradient_norm": total,
        "has_nan": math.isnan(told.loss) or any(each.has_nan for each in gradients.values()),
        "has_inf": math.isinf(told.loss) or any(each.has_inf for each in gradients.values()),
        "is_anomaly": bool(told.kinds),
        "anomalies": list(told.lines),
        "exploded": list(told.exploded),
        "vanished": list(told.vanished),
    }
