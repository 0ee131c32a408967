"""This file is one pass of a diffusion pipeline from noise to image, and which of its latents stand out."""

from collections.abc import Iterator
from typing import Any

from torchmagic.api.debugging.analysis import TensorAnalysis
from torchmagic.models.noise_schedule import Expected, expected_latents, is_timestep

# Strong guidance doubles or triples the spread of latents; what blows up passes any bound.
MOST_OF_EXPECTED = 6.0
# Latents keep the noise that the schedule has not taken away yet; a fifth of it is beyond any doubt too little.
LEAST_OF_NOISE = 0.2
# Without a scheduler that says what to expect, only what no schedule does within one step counts.
MOST_OF_BEFORE, LEAST_OF_BEFORE, LEAST_STEPS = 20.0, 1e-3, 3


class Denoising:
    """Remembers the spread of latents in one pass; a step that goes back begins a new one."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._last: float | None = None
        self._direction = 0
        self._spreads: list[float] = []
        self._by_timestep = False

    def place(self, scheduler: Any, step: Any) -> Expected | None:
        """Take in a step; return what the scheduler lets one expect around it."""
        number = float(step)
        if self._last is not None and number != self._last:
            direction = 1 if number > self._last else -1
            if self._direction and direction != self._direction:
                self._begin()
            else:
                self._direction = direction
        self._last = number
        self._by_timestep = self._by_timestep or is_timestep(scheduler, step)
        return expected_latents(scheduler, step, by_timestep=self._by_timestep)

    def anomalies(self, latents: TensorAnalysis, expected: Expected | None) -> Iterator[str]:
        """Take in the latents of the step; yield what is wrong with them, one line each."""
        if not latents.is_finite:
            yield f"latents are not finite: {_counted(latents)}"
            return
        spread = latents.std_value
        if spread is None or latents.num_elements == 1:
            return
        if not spread:
            yield f"latents are all {latents.mean_value:.3g}"
        elif expected is not None:
            yield from _against(spread, expected)
        else:
            yield from self._against_before(spread)
        self._spreads.append(spread)

    def _against_before(self, spread: float) -> Iterator[str]:
        if len(self._spreads) < LEAST_STEPS:
            return
        most = max(self._spreads)
        if spread > MOST_OF_BEFORE * most:
            yield f"latents blow up: standard deviation {spread:.3g}, at most {most:.3g} before"
        if spread < LEAST_OF_BEFORE * min(self._spreads):
            yield f"latents collapse: standard deviation {spread:.3g}, at least {min(self._spreads):.3g} before"


def _against(spread: float, expected: Expected) -> Iterator[str]:
    if spread > MOST_OF_EXPECTED * expected.std:
        yield f"latents blow up: standard deviation {spread:.3g}, the schedule has about {expected.std:.3g} here"
    if spread < LEAST_OF_NOISE * expected.noise:
        yield f"latents collapse: standard deviation {spread:.3g}, the noise alone has {expected.noise:.3g} here"


def _counted(latents: TensorAnalysis) -> str:
    counts = {"NaN": latents.num_nan, "infinite": latents.num_inf}
    return " and ".join(f"{number:,} {kind}" for kind, number in counts.items() if number) + (
        f" of {latents.num_elements:,} values"
    )
