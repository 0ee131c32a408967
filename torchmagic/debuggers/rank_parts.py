"""This file is the part of an assembly that only a rank gets: what it shares with the others, and what it does not."""

from collections.abc import Iterator, Mapping
from typing import Any

from torchmagic.debuggers.parts import Parts
from torchmagic.probes.cast import Cast
from torchmagic.probes.loaders import Loaders
from torchmagic.probes.probe import Probe
from torchmagic.probes.rank_batches import RankBatches
from torchmagic.probes.rank_checksums import RankChecksums
from torchmagic.probes.rank_collectives import Collectives
from torchmagic.probes.rank_gradients import RankGradients
from torchmagic.probes.rank_models import Wrappers
from torchmagic.probes.rank_progress import Progress
from torchmagic.probes.rank_randomness import RankRandomness


def rank_parts(parts: Parts, cast: Cast, namespace: Mapping[str, Any], progress: Progress | None) -> Iterator[Probe]:
    """Yield the probes of a rank; none where the run is no rank's, which has no progress to tell."""
    if progress is not None:
        yield progress
        yield parts(RankRandomness)
        yield parts(Collectives)
        yield parts(RankGradients, cast, parts(Wrappers, namespace))
        yield parts(RankChecksums, cast)
        yield parts(RankBatches, parts(Loaders, cast))
