"""This file is ``DiffusionModelDebugger``: what a diffusion pipeline is made of, and how its latents come along."""

from typing import Any
from weakref import WeakKeyDictionary

import torch

from torchmagic.api.debugging.alive import register
from torchmagic.api.debugging.analysis import TensorAnalysis, analyze_tensor
from torchmagic.api.debugging.denoising import Denoising
from torchmagic.api.debugging.ledger import MOST_KEPT
from torchmagic.api.debugging.levelled import DETAILED, FULL, Levelled
from torchmagic.api.debugging.memory_watch import MemoryWatch
from torchmagic.api.debugging.modes import DebugLevel
from torchmagic.models.noise_schedule import Expected, scheduler_facts, scheduler_of
from torchmagic.models.pipeline_components import pipeline_components

LATENTS = "latents"
_SHORT = ("mean", "std", "min", "max")


class DiffusionModelDebugger(Levelled):
    """Tells what a diffusion pipeline is made of, and looks at the latents of each denoising step.

    Pipelines of ``diffusers`` are understood, and any object or dictionary that holds modules; a ``scheduler`` in it
    says what spread to expect. ``basic`` and ``intermediate`` tell of values that are not finite, of mean, spread and
    ends; ``advanced`` also of memory and its trend; ``expert`` and ``extreme`` also keep the whole analyses of the
    last latents in ``debug_history``. Nothing is changed, no random number is drawn, and neither pipeline nor latents
    are held.

    Args:
        level: How closely to look: a ``DebugLevel`` or its name.
        max_history: Steps that are kept whole.

    Raises:
        ValueError: If a value is none of those; one line.

    Example:
        >>> debugger = DiffusionModelDebugger()
        >>> pipeline = {"unet": torch.nn.Conv2d(4, 4, 3, padding=1)}
        >>> debugger.analyze_diffusion_pipeline(pipeline)["total_parameters"]
        148
        >>> debugger.monitor_diffusion_step(pipeline, 0, torch.zeros(1, 4, 8, 8))["anomalies"]
        ['latents are all 0']
    """

    def __init__(self, level: DebugLevel | str = DebugLevel.BASIC, *, max_history: int = MOST_KEPT) -> None:
        super().__init__(level, max_history)
        self._passes: WeakKeyDictionary[Any, Denoising] = WeakKeyDictionary()
        self._other = Denoising()
        self._memory = MemoryWatch()
        register(self, "diffusion")

    def analyze_diffusion_pipeline(self, pipeline: Any) -> dict[str, Any]:
        """Take a pipeline apart; nothing is run.

        Args:
            pipeline: An object, dictionary or list that holds modules, such as one of ``diffusers``; or a module.

        Returns:
            ``pipeline`` (its class); ``total_parameters`` and ``trainable_parameters`` (elements) and ``total_memory``
            (MB of 2**20 bytes), where what components share counts once; ``components``, by name: ``class``,
            ``parameters``, ``trainable_parameters``, ``memory``, ``dtypes`` and ``devices`` (elements by kind),
            ``mode`` (``training``, ``evaluation`` or ``mixed``), ``nonfinite`` (words by tensor), ``shared_with``
            (components that have some of its tensors too) and ``notes``; ``scheduler`` (what it says of itself);
            ``others`` (class of all else, by name); ``anomalies`` and ``notes`` (one line each).

        Raises:
            TypeError: If there is no module in it; one line.
        """
        return {**pipeline_components(pipeline), "scheduler": scheduler_facts(scheduler_of(pipeline))}

    def monitor_diffusion_step(self, pipeline: Any, step: Any, latents: Any) -> dict[str, Any]:
        """Look at the latents of one denoising step, before or after the scheduler's own step.

        Args:
            pipeline: The pipeline; its ``scheduler``, if there is one with timesteps, says what to expect.
            step: The index of the step, or its timestep.
            latents: A tensor, or what a denoiser returns with it as ``sample`` or as its first item.

        Returns:
            ``step``; ``timestep`` (None where the scheduler does not say); ``shape``; ``mean``, ``std``, ``min`` and
            ``max`` of the finite values; ``has_nan``; ``has_inf``; ``expected_std``, the greatest that the schedule has
            around this step (None where it does not say); ``is_anomaly``; ``anomalies``, one line each; from level
            advanced on ``memory`` (MB of the process), ``gpu_memory`` (MB; None without CUDA) and ``memory_trend``;
            from level expert on ``latents``, the whole analysis.

        Raises:
            TypeError: If there is no tensor in the latents, or the step is no number; one line.
        """
        found = analyze_tensor(_tensor(latents), LATENTS)
        denoising = self._pass_of(pipeline)
        expected = denoising.place(scheduler_of(pipeline), _checked(step))
        anomalies = list(denoising.anomalies(found, expected))
        entry = _entry(float(step), found, expected, anomalies)
        if self._level in DETAILED:
            entry |= self._memory.look()
        if self._level in FULL:
            entry["latents"] = found
        self._ledger.add(entry, [LATENTS] if anomalies else [])
        return dict(entry)

    def get_debug_summary(self) -> dict[str, Any]:
        """Return what was counted.

        Returns:
            ``total_steps``; ``total_anomalies``, the steps with one; ``debug_history_length``; ``anomaly_rate``, 0 to
            1; ``level``; ``memory_leak`` and ``memory_growth_per_step`` (MB), known from level advanced on.
        """
        summary = self._ledger.summary()
        rate = self._ledger.rate(summary["total_anomalies"])
        return {**summary, "anomaly_rate": rate, "level": self._level.value, **self._memory.summary()}

    def clear_debug_history(self) -> None:
        """Forget what was counted and kept."""
        self._ledger.clear()
        self._memory.clear()

    def _pass_of(self, pipeline: Any) -> Denoising:
        try:
            found = self._passes.get(pipeline)
            if found is None:
                found = self._passes[pipeline] = Denoising()
        except TypeError:  # a dictionary, or an object that cannot be referred to weakly
            return self._other
        return found


def _entry(step: float, found: TensorAnalysis, expected: Expected | None, anomalies: list[str]) -> dict[str, Any]:
    return {
        "step": int(step) if step.is_integer() else step,
        "timestep": None if expected is None else expected.timestep,
        "shape": found.shape,
        **{name: getattr(found, f"{name}_value") for name in _SHORT},
        "has_nan": found.has_nan,
        "has_inf": found.has_inf,
        "expected_std": None if expected is None else expected.std,
        "is_anomaly": bool(anomalies),
        "anomalies": anomalies,
    }


def _checked(step: Any) -> Any:
    is_single = step.numel() == 1 and not step.is_meta if isinstance(step, torch.Tensor) else hasattr(step, "__float__")
    if is_single and not isinstance(step, bool):
        return step
    raise TypeError(f"a step is a number, the index or the timestep of it, {type(step).__name__} came")


def _tensor(latents: Any) -> Any:
    """Return the tensor in what a denoiser gives: itself, its ``sample``, or its first item."""
    if isinstance(latents, torch.Tensor):
        return latents
    sample = getattr(latents, "sample", None)
    if isinstance(sample, torch.Tensor):
        return sample
    if isinstance(latents, list | tuple) and latents and isinstance(latents[0], torch.Tensor):
        return latents[0]
    return latents
