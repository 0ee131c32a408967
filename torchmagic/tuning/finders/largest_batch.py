"""This file is the search for the largest batch that fits into memory: doubling until one does not, then bisection."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from torchmagic.probes.free_memory import free_bytes
from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError
from torchmagic.tuning.finders.found import FITS, TOO_TIGHT, FoundRow
from torchmagic.tuning.finders.sized_steps import SizedSteps, is_full
from torchmagic.tuning.measure import spread
from torchmagic.tuning.peak_memory import MIB
from torchmagic.tuning.reasons import reason_of
from torchmagic.views.numbers import as_bytes

# The search ends when the largest that fits is known to such a share of it.
_PRECISION = 16
# Sizes further apart than that are tried at multiples of eight, which kernels like.
_ROUND = 8
_NUM_TIMED = 3
_NUM_STEPS = _NUM_TIMED + 2  # the first makes the optimizer's state, the second is measured for memory
_MOST_STRIKES = 3
# Nobody has more rows; a model that needs no memory would be tried for ever.
MOST = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of one size.

    Args:
        size: Rows of the batch.
        fits: Whether a step could be done, and left the headroom that is wanted.
        is_full: Whether memory was what it failed for.
        row: The same for people.
    """

    size: int
    fits: bool
    is_full: bool
    row: FoundRow


def largest(try_one: Callable[[int], Tried], sizes: Sequence[int] | None, most: int) -> list[Tried]:
    """Find the largest size that fits.

    Args:
        try_one: Tries a size; raises ``TimeIsUpError`` if there is no time for it.
        sizes: Those to try, rising; None for doubling and bisection.
        most: The largest that makes sense.

    Returns:
        What was tried, in that order.
    """
    found: list[Tried] = []
    try:
        if sizes is None:
            _search(try_one, most, found)
        for size in sizes or ():
            found.append(try_one(size))
            if found[-1].is_full:
                break
    except TimeIsUpError:
        pass
    return found


def _search(try_one: Callable[[int], Tried], most: int, found: list[Tried]) -> None:
    low, high, size, strikes = 0, most + 1, 1, 0
    while size < high and strikes < _MOST_STRIKES:
        found.append(try_one(size))
        if found[-1].fits:
            low, strikes = size, 0
        elif found[-1].is_full:
            high = size
        else:
            strikes += 1
        if size == most:
            break
        size = min(2 * size, most)
    while low and high <= most and high - low > max(1, low // _PRECISION):
        size = (low + high) // 2
        if high - low > 2 * _ROUND:
            size -= size % _ROUND
        found.append(try_one(size))
        low, high = (size, high) if found[-1].fits else (low, size)


class Fitting:
    """Tries sizes on a device.

    Args:
        steps: Steps by batches of any size.
        room: Bytes that a step may take in all.
        headroom: Share 0..1 of them that is to be left.
        deadline: After which no step is begun.
        held: Returns the bytes that the copy holds by now beyond those at its beginning.
    """

    def __init__(
        self, steps: SizedSteps, *, room: int, headroom: float, deadline: Deadline, held: Callable[[], int]
    ) -> None:
        self._steps, self._room, self._headroom = steps, room, headroom
        self._deadline, self._held = deadline, held
        self._peaks: list[tuple[int, float]] = []  # sizes with what they took, in MiB
        self._last: tuple[int, float] | None = None  # the last size, and seconds of its step

    def __call__(self, size: int) -> Tried:
        """Try a size.

        Raises:
            TimeIsUpError: If there is no time for it.
        """
        setting = {"batch_size": size}
        if self._last is not None and size / self._last[0] * self._last[1] * _NUM_STEPS > self._deadline.left:
            raise TimeIsUpError(self._deadline.words)
        refusal = self._refusal(size)
        if refusal:
            return Tried(size=size, fits=False, is_full=True, row=FoundRow(setting=setting, failure=refusal))
        try:
            number, peak = self._steps.begin(size)
            seconds = [self._steps.seconds(number) for _ in range(_NUM_TIMED)]
        except TimeIsUpError:
            raise
        except Exception as error:  # noqa: BLE001 - the user's model may raise anything; it is a row
            row = FoundRow(setting=setting, failure=reason_of(error))
            tried = Tried(size=size, fits=False, is_full=is_full(error), row=row)
        else:
            self._last = size, statistics.median(seconds)
            tried = self._tried(size, peak, seconds)
        finally:
            self._steps.give_up()
        return tried

    def _refusal(self, size: int) -> str:
        """Return why a size is not even tried: on the host, a process that takes too much is killed without a word."""
        if not self._peaks or self._steps.device.type == "cuda":
            return ""
        needed = _foreseen(self._peaks, size) * MIB
        if needed <= self._room:
            return ""
        return f"a step would need about {as_bytes(needed)} of the {as_bytes(self._room)} that are free"

    def _tried(self, size: int, peak: float | None, seconds: Sequence[float]) -> Tried:
        figures = {"samples_per_second": size / max(statistics.median(seconds), 1e-9)}
        fits = True
        if peak is not None:
            self._peaks = sorted([*self._peaks, (size, peak)])
            self._steps.clear()  # gradients are in the peak
            left = 1 - (peak * MIB + self._held()) / self._room if self._room else 0.0
            figures |= {"peak_mib": peak, "headroom": left}
            fits = left >= self._headroom
        times = spread([each / size for each in seconds])
        row = FoundRow(setting={"batch_size": size}, times=times, verdict=FITS if fits else TOO_TIGHT, figures=figures)
        return Tried(size=size, fits=fits, is_full=not fits, row=row)


def _foreseen(peaks: Sequence[tuple[int, float]], size: int) -> float:
    """Return the peak of a size by those of others: in proportion to the largest, or by the line through two."""
    (small, least), (large, most) = peaks[0], peaks[-1]
    if small == large or size <= large:
        return most * size / large
    return most + (size - large) * (most - least) / (large - small)


def room_on(device: torch.device) -> int:
    """Return the bytes that a device, or the host, can still give."""
    if device.type != "cuda":
        return free_bytes()
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def held_on(device: torch.device) -> int:
    """Return the bytes that this process holds on a device; 0 on the host, where that is not counted."""
    return int(torch.cuda.memory_allocated(device)) if device.type == "cuda" else 0
