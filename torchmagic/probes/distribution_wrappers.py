"""This file is the wrapper around the log-probability of torch's distributions."""

from collections.abc import Iterator
from typing import Any

from torch.distributions import Distribution

from torchmagic.probes.sites import is_torchs
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, named_like


def wrap_log_prob(taps: Switchboard, original: Any) -> Any:
    """Wrap ``log_prob``."""

    def log_prob(distribution: Any, *args: Any, **kwargs: Any) -> Any:
        output = original(distribution, *args, **kwargs)
        if not (taps.quiet or is_compiling()):
            taps.emit("log_prob", output)
        return output

    return named_like(log_prob, original)


def distributions() -> tuple[tuple[type, str], ...]:
    """Return the classes of torch that compute a log-probability in a way of their own, with the method's name."""
    return tuple((kind, "log_prob") for kind in _below(Distribution) if "log_prob" in vars(kind))


def _below(kind: type) -> Iterator[type]:
    below: list[type] = kind.__subclasses__()
    for each in below:
        if is_torchs(each):
            yield each
            yield from _below(each)
