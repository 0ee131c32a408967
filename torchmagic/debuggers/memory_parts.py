"""This file chooses the probes of memory."""

from collections.abc import Iterator, Mapping
from typing import Any

from torchmagic.debuggers.parts import Parts
from torchmagic.debuggers.settings import Level, Settings
from torchmagic.probes.cast import Cast
from torchmagic.probes.categories import Categories
from torchmagic.probes.holders import Holders
from torchmagic.probes.memory import Memory
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import Probe
from torchmagic.probes.retained import Retained


def memory_parts(
    parts: Parts, settings: Settings, cast: Cast, pacer: Pacer, namespace: Mapping[str, Any]
) -> Iterator[Probe]:
    """Yield the probes of how much memory is used, and of who holds it; dearer levels tell what it is used for.

    Args:
        parts: Where they are made.
        settings: What the user asked for.
        cast: The models and optimizers.
        pacer: What may be spent on a close look.
        namespace: The user's names.
    """
    if settings.watches("memory"):
        yield parts(Memory)
        yield parts(Retained, cast, namespace)
        yield parts(Holders, namespace)
        if settings.level in (Level.ADVANCED, Level.EXPERT):
            yield parts(Categories, cast, pacer)
