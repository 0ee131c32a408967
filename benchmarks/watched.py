"""This file is a watched block: the same steps inside ``torchmagic.watch`` at one level, and what else the watch costs."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from blocks import NUM_WARM_STEPS, Measured, Times, block, median
from workloads import Step, Workload

import torchmagic
from torchmagic.records.note import FailureRecord

# Expert means every statistic at every step; torch's own detect_anomaly is a peer, and has a row among the peers.
LEVELS = {
    "basic": {"level": "basic"},
    "intermediate": {"level": "intermediate"},
    "advanced": {"level": "advanced"},
    "expert": {"level": "expert", "anomaly": "auto"},
}


@dataclass(slots=True)
class Watches:
    """What the watches of one level cost beside their timed blocks: one value a round.

    Args:
        opening: Seconds to open the watch.
        warming: Seconds of the steps before the block.
        closing: Seconds to close it: findings are drawn, the run is stored.
        said: ``run.overhead``: the share of wall time inside torchmagic, of the whole run.
        said_of_block: The same of the timed block alone.
    """

    opening: list[float] = field(default_factory=list)
    warming: list[float] = field(default_factory=list)
    closing: list[float] = field(default_factory=list)
    said: list[float] = field(default_factory=list)
    said_of_block: list[float] = field(default_factory=list)


def watched(step: Step, num_steps: int, level: str, watches: Watches, *, only: tuple[str, ...] = ()) -> Times:
    """Time a block inside a watch.

    Args:
        step: Does one step.
        num_steps: Steps in the block.
        level: One of ``LEVELS``.
        watches: Is told what the watch costs besides.
        only: The probes that are wanted; all of the level where there are none.

    Raises:
        RuntimeError: If a probe failed, so that the block was watched less closely than the level says.
    """
    began = time.perf_counter()
    with torchmagic.watch(**LEVELS[level], **({"only": only} if only else {})) as run:
        opened = time.perf_counter()
        block(step, min(NUM_WARM_STEPS, num_steps))
        warmed, cost, seconds = time.perf_counter(), run.clock.cost, run.clock.seconds
        times = block(step, num_steps)
        ended = time.perf_counter()
        share = (run.clock.cost - cost) / max(run.clock.seconds - seconds, 1e-9)
    watches.closing.append(time.perf_counter() - ended)
    watches.opening.append(opened - began)
    watches.warming.append(warmed - opened)
    watches.said.append(run.overhead)
    watches.said_of_block.append(share)
    failures = run.of(FailureRecord)
    torchmagic.session.clear()
    if failures:
        raise RuntimeError(f"{failures[0].probe} failed: {failures[0].error}")
    return times


def extra(watches: Watches, measured: Measured, workload: Workload) -> list[float]:
    """Return what the steps before the block cost more than bare ones, in seconds, one value a round."""
    bare = median([each.wall for each in measured.bare])
    return [each - min(NUM_WARM_STEPS, workload.num_steps) * bare for each in watches.warming]


@contextmanager
def away_from_home() -> Iterator[Path]:
    """Keep the store of the watched runs, and all else that is written, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="benchmarks_") as folder:
        torchmagic.session.folder = Path(folder)
        yield Path(folder)
        torchmagic.session.close()
