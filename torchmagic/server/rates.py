"""This file is the rates: how often each client has asked of late, in memory that does not grow."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

from torchmagic.server.limits import Limits


class Rates:
    """A bucket a client, from which each request takes one and into which so many a second flow back.

    Args:
        limits: How many.
        clock: Tells seconds.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, client: Hashable) -> float:
        """Count a request; return 0, or after how many seconds the client may ask again."""
        now, limits = self._clock(), self._limits
        left, since = self._buckets.pop(client, (float(limits.burst), now))
        left = min(float(limits.burst), left + (now - since) * limits.requests_per_second)
        wait = 0.0 if left >= 1 else (1 - left) / limits.requests_per_second
        self._buckets[client] = (left if wait else left - 1), now
        while len(self._buckets) > limits.clients:
            self._buckets.popitem(last=False)
        return wait

    def __len__(self) -> int:
        return len(self._buckets)
