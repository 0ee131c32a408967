"""This file is what a diffusion scheduler lets one expect of the latents: their spread at each step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

# A scheduler whose latents begin with about this deviation keeps them there: the variance of noise goes over into that
# of the image. Others begin with that of their greatest noise.
UNIT, NEAR_UNIT = 1.0, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What latents should be like around one step.

    Args:
        timestep: The scheduler's timestep; None where it cannot be told.
        std: Greatest standard deviation expected just before or after the step.
        noise: Least part of it that is noise and cannot be missing; 0 where that is not known.
    """

    timestep: float | None
    std: float
    noise: float


def scheduler_of(pipeline: Any) -> Any:
    """Return a pipeline's scheduler; None where it has none."""
    return pipeline.get("scheduler") if isinstance(pipeline, Mapping) else getattr(pipeline, "scheduler", None)


def scheduler_facts(scheduler: Any) -> dict[str, Any]:
    """Return what a scheduler says of itself: class, timesteps, kind of prediction and of its table; {} for none."""
    if scheduler is None:
        return {}
    config = getattr(scheduler, "config", {})
    known = config if isinstance(config, Mapping) else {}
    names = ("num_train_timesteps", "prediction_type", "beta_schedule", "timestep_spacing", "clip_sample")
    facts = {name: known[name] for name in names if name in known}
    sigma = _number(getattr(scheduler, "init_noise_sigma", None))
    return {"class": type(scheduler).__name__, **facts, **({} if sigma is None else {"init_noise_sigma": sigma})}


def is_timestep(scheduler: Any, step: Any) -> bool:
    """Whether a step can only be meant as one of the scheduler's timesteps, and not as an index into them."""
    if isinstance(step, torch.Tensor):
        return True
    number, times = _number(step), _numbers(getattr(scheduler, "timesteps", None))
    return number in times and not (number.is_integer() and 0 <= number < len(times)) if number is not None else False


def expected_latents(scheduler: Any, step: Any, *, by_timestep: bool = False) -> Expected | None:
    """Return what latents should be like around a step; None where the scheduler does not say.

    Latents are looked at before or after the scheduler's own step, so that both must be expected.

    Args:
        scheduler: A scheduler as those of ``diffusers`` are, with ``timesteps``, and ``alphas_cumprod`` or ``sigmas``.
        step: Index into its timesteps, or one of these itself.
        by_timestep: Whether it is one of these.
    """
    times = _numbers(getattr(scheduler, "timesteps", None))
    place = _place(times, step, by_timestep=by_timestep)
    if place is None:
        return None
    around = [min(place + each, len(times) - 1) for each in (0, 1)]
    start = _number(getattr(scheduler, "init_noise_sigma", UNIT))
    sigmas = _numbers(getattr(scheduler, "sigmas", None))
    if start is None or abs(start - UNIT) > NEAR_UNIT:
        if start is None or len(sigmas) < len(times):
            return None
        return Expected(timestep=times[place], std=max(math.hypot(UNIT, sigmas[each]) for each in around), noise=0.0)
    return Expected(timestep=times[place], std=UNIT, noise=_least_noise(scheduler, times, around))


def _least_noise(scheduler: Any, times: Sequence[float], around: Sequence[int]) -> float:
    """Return the deviation of the noise that is left after the step, for schedulers that keep the variance."""
    kept = _numbers(getattr(scheduler, "alphas_cumprod", None))
    if not kept or around[0] == around[1]:  # after the last step no noise is left
        return 0.0
    shares = [kept[int(times[each])] for each in around if 0 <= times[each] < len(kept)]
    return math.sqrt(max(0.0, 1 - max(shares))) if len(shares) == len(around) else 0.0


def _place(times: Sequence[float], step: Any, *, by_timestep: bool) -> int | None:
    number = _number(step)
    if number is None:
        return None
    if by_timestep:
        return times.index(number) if number in times else None
    return int(number) if number.is_integer() and 0 <= number < len(times) else None


def _numbers(values: Any) -> list[float]:
    """Return a scheduler's table as numbers; it is small, and on the host in most schedulers."""
    if isinstance(values, torch.Tensor):
        return [float(each) for each in values.detach().reshape(-1).tolist()] if not values.is_meta else []
    if hasattr(values, "tolist"):
        values = values.tolist()
    return [float(each) for each in values] if isinstance(values, list | tuple) else []


def _number(value: Any) -> float | None:
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 and not value.is_meta else None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
