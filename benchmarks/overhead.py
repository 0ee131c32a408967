"""This file is what watching costs: the time of a training step beside that of the bare loop.

Every workload runs bare, under ``torchmagic.watch()`` at its default level, and under
``torch.autograd.detect_anomaly``, in turns within one process, so that what else the machine does falls on all alike.
A block's ratio is taken to the mean of the two bare blocks around it; the table shows the median of the rounds. CPU
time is that of the process, all threads. Opening and closing a watch and its first steps are not in the ratios; they
are in columns of their own.
"""

import argparse
import gc
import json
import os
import platform
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch
from workloads import WORKLOADS, Step, Workload

import torchmagic

NUM_ROUNDS = 9
NUM_WARM_STEPS = 10


@dataclass(slots=True)
class Times:
    """Seconds a step of one block, or the ratio to the bare blocks beside it."""

    cpu: float
    wall: float

    def ratio(self, before: "Times", after: "Times") -> "Times":
        return Times(2 * self.cpu / (before.cpu + after.cpu), 2 * self.wall / (before.wall + after.wall))


@dataclass(slots=True)
class Row:
    """What was measured of one workload."""

    workload: Workload
    bare: list[Times] = field(default_factory=list)
    torchmagic: list[Times] = field(default_factory=list)
    anomaly: list[Times] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)
    warming: list[float] = field(default_factory=list)
    closing: list[float] = field(default_factory=list)
    said: list[float] = field(default_factory=list)


def block(step: Step, count: int) -> Times:
    """Time so many steps."""
    wall, cpu = time.perf_counter(), time.process_time()
    for index in range(count):
        step(index)
    return Times((time.process_time() - cpu) / count, (time.perf_counter() - wall) / count)


def bare(row: Row, step: Step) -> Times:
    gc.collect()
    block(step, 2)
    times = block(step, row.workload.num_steps)
    row.bare.append(times)
    return times


def watched(row: Row, step: Step) -> Times:
    gc.collect()
    began = time.perf_counter()
    with torchmagic.watch() as run:
        row.opening.append(time.perf_counter() - began)
        warm = min(NUM_WARM_STEPS, row.workload.num_steps)
        row.warming.append(warm * (block(step, warm).wall - row.bare[-1].wall))
        times = block(step, row.workload.num_steps)
        ended = time.perf_counter()
    row.closing.append(time.perf_counter() - ended)
    row.said.append(run.overhead)
    torchmagic.session.clear()
    return times


def detecting(row: Row, step: Step) -> Times:
    gc.collect()
    with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
        block(step, 2)
        return block(step, row.workload.num_steps)


def measure(workload: Workload, rounds: int) -> Row:
    """Run one workload in all ways, in turns."""
    row, step = Row(workload), workload.make()
    block(step, max(3, workload.num_steps // 4))
    watched_first = Row(workload, bare=[block(step, 2)])
    watched(watched_first, step)  # loads what a watch loads; the first of a process is told apart
    row.opening.append(watched_first.opening[0])
    before = bare(row, step)
    for turn in range(rounds):
        ways: list[tuple[Callable[[Row, Step], Times], list[Times]]] = [
            (watched, row.torchmagic),
            (detecting, row.anomaly),
        ]
        for way, ratios in ways if turn % 2 else reversed(ways):
            times = way(row, step)
            after = bare(row, step)
            ratios.append(times.ratio(before, after))
            before = after
    return row


def median(values: list[float]) -> float:
    return statistics.median(values)


def table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (f"{'':16} {'bare':>9}  {'torchmagic':>21}  {'detect_anomaly':>15}  {'watch, once':>22}  {'says of'}")
    yield (
        f"{'workload':16} {'ms a step':>9}  {'CPU':>6} {'(range)':>13}"
        f" {'wall':>6}  {'CPU':>6} {'wall':>6}  {'open':>6} {'warm':>6} {'close':>6} ms  {'itself'}"
    )
    for row in rows:
        cpu = [each.cpu for each in row.torchmagic]
        yield (
            f"{row.workload.name:16} {1e3 * median([each.wall for each in row.bare]):9.2f}"
            f"  {median(cpu):6.3f} {f'{min(cpu):.2f}..{max(cpu):.2f}':>13} {median([each.wall for each in row.torchmagic]):6.3f}"
            f"  {median([each.cpu for each in row.anomaly]):6.3f} {median([each.wall for each in row.anomaly]):6.3f}"
            f"  {1e3 * median(row.opening[1:]):6.1f} {1e3 * median(row.warming):6.1f} {1e3 * median(row.closing):6.1f}    "
            f"  {100 * median(row.said):4.1f} %"
        )


def report(rows: list[Row], rounds: int) -> str:
    """Return the whole account as plain text."""
    lines = [
        "Time of a training step, as a ratio to the bare loop (1.000 costs nothing)",
        f"median of {rounds} rounds, in turns in one process; torch {torch.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}, {torch.get_num_threads()} thread(s)",
        "",
        *table(rows),
        "",
        f"open, warm and close are not in the ratios: opening a watch, what its first {NUM_WARM_STEPS} steps cost more than",
        f"bare ones, and closing it with findings drawn and the run stored. The first watch of the process opened in "
        f"{1e3 * rows[0].opening[0]:.0f} ms.",
        "says of itself: the share of wall time that the run reports as spent inside torchmagic, those included.",
    ]
    return "\n".join(lines)


def as_json(rows: list[Row]) -> str:
    """Return every round's numbers."""
    return json.dumps(
        {
            row.workload.name: {
                "about": row.workload.about,
                "bare_seconds": {"cpu": [t.cpu for t in row.bare], "wall": [t.wall for t in row.bare]},
                "torchmagic_ratio": {"cpu": [t.cpu for t in row.torchmagic], "wall": [t.wall for t in row.torchmagic]},
                "detect_anomaly_ratio": {"cpu": [t.cpu for t in row.anomaly], "wall": [t.wall for t in row.anomaly]},
                "open_seconds": row.opening,
                "warm_seconds": row.warming,
                "close_seconds": row.closing,
                "overhead_said": row.said,
            }
            for row in rows
        },
        indent=1,
    )


@contextmanager
def away_from_home() -> Iterator[None]:
    """Keep the store of the watched runs out of the working directory."""
    with tempfile.TemporaryDirectory() as folder:
        torchmagic.session.folder = Path(folder)
        yield
        torchmagic.session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    parser.add_argument(
        "--out", type=Path, help="write the table to this file too, e.g. benchmarks/results/overhead.txt"
    )
    parser.add_argument(
        "--json", type=Path, help="write every round to this file, e.g. benchmarks/results/overhead.json"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with away_from_home():
        rows = [measure(each, chosen.rounds) for each in WORKLOADS if chosen.only in each.name]
    text = report(rows, chosen.rounds)
    print(text)
    for path, content in ((chosen.out, text + "\n"), (chosen.json, as_json(rows) + "\n")):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
