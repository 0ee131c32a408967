"""This file is what watching costs: the time of a training step at each level, as a ratio to the bare loop.

Every workload runs bare and under ``torchmagic.watch()`` at every level, in turns within one process (see
``blocks.py``); the table shows the median of the rounds with its 90% interval. Opening and closing a watch and its
first steps are not in the ratios; they are in columns of their own. ``benchmarks/peers.py`` measures other tools.

Run it alone on a quiet machine, some twenty minutes (``make bench`` prints only):

    OMP_NUM_THREADS=1 python benchmarks/overhead.py --out benchmarks/results/overhead-cpu.txt

and for one question only, for instance:

    OMP_NUM_THREADS=1 python benchmarks/overhead.py --only MLP --levels basic,expert --rounds 31
"""

import argparse
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from blocks import NUM_WARM_STEPS, Measured, Times, block, cpu, in_turns, interval, median, usual, wall, with_interval
from watched import LEVELS, Watches, away_from_home, extra, watched
from workloads import COMPILED, LARGE, WORKLOADS, Step, Workload

NUM_ROUNDS = 15
# The most that a level may cost, as a ratio of CPU time to the bare loop.
OF_LARGE = {"basic": 1.02, "intermediate": 1.04, "advanced": 1.06, "expert": 1.40}
BOUNDS = {
    "tiny MLP": {"basic": 1.13, "intermediate": 1.20, "advanced": 1.30, "expert": 1.80},
    "ResNet-like CNN": OF_LARGE,
    "small GPT": OF_LARGE,
    "200 parameters": {"basic": 1.05, "intermediate": 1.08, "advanced": 1.12, "expert": 1.50},
    "CNN, compiled": OF_LARGE,
    "GPT, compiled": OF_LARGE,
    "ResNet-18": OF_LARGE,
    "GPT-2, bfloat16": OF_LARGE,
}
Judged = Callable[[Sequence[Times]], list[float]]


@dataclass(slots=True)
class Row:
    """What was measured of one workload."""

    workload: Workload
    measured: Measured
    watches: dict[str, Watches]
    first_opening: float
    num_graphs: int


def measure(workload: Workload, step: Step, levels: list[str], rounds: int) -> Row:
    """Run one workload bare and at all levels, in turns."""
    num_steps = workload.num_steps
    first = Watches()
    for level in levels:
        watched(step, 2, level, first)  # loads what a watch loads; the first of a process is told apart
    watches = {level: Watches() for level in levels}
    graphs = num_graphs(workload)
    measured = in_turns(
        step,
        num_steps,
        {level: (lambda level=level: watched(step, num_steps, level, watches[level])) for level in levels},
        rounds=rounds,
    )
    return Row(workload, measured, watches, first.opening[0], num_graphs(workload) - graphs)


def num_graphs(workload: Workload) -> int:
    """Return how many graphs were compiled so far; what does not compile does not load the compiler."""
    if not workload.compiled:
        return 0
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


def ready(workload: Workload, device: str) -> Step | str:
    """Return the step of a training that was built and has run bare, or why it does not run here."""
    with torch.device(device):
        made = workload.make()
    if not workload.compiled:
        return made.step
    if not (os.environ.get("CXX") or any(map(shutil.which, ("g++", "clang++", "c++")))):
        return "torch.compile needs a C++ compiler, and there is none"
    try:
        block(made.step, 3)  # compiles, before anybody watches
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return made.step


def name_of(device: str) -> str:
    """Return what a device is called by its maker, if torch tells."""
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def holds(values: list[float], bound: float) -> str:
    """Say whether the median keeps to the bound, with a question mark where the interval reaches across it."""
    low, high = interval(values)
    return ("yes" if median(values) <= bound else "NO") + (" ?" if low <= bound < high else "")


def table(rows: list[Row], judged: Judged) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        f"{'':16} {'bare':>8}  {'':12}  {'ratio to the bare loop':^33}  {'':9}"
        f"  {'says of itself':^14}  {'watch, once (ms)':>20}"
    )
    yield (
        f"{'workload':16} {'ms a step':>9} {'level':>12}  {'CPU':>6} {'(90%)':>12} {'wall':>6} {'usual':>6}"
        f"  {'bound':>5} {'holds':5}  {'block':>6} {'run':>7}  {'open':>6} {'warm':>6} {'close':>6}"
    )
    for row in rows:
        name, bare = row.workload.name, f"{1e3 * median(wall(row.measured.bare)):.2f}"
        for level, watches in row.watches.items():
            yield f"{name:16} {bare:>9} {level:>12}  {cells(row, level, watches, judged)}"
            name = bare = ""
        if row.num_graphs:
            yield f"{'':16} compiled {row.num_graphs} times more during the measurement: not to be trusted"


def cells(row: Row, level: str, watches: Watches, judged: Judged) -> str:
    """Return the cells of one level."""
    if level in row.measured.failed:
        return row.measured.failed[level]
    ratios = row.measured.ratios[level]
    bound = BOUNDS[row.workload.name][level]
    return (
        f"{with_interval(cpu(ratios))} {median(wall(ratios)):6.3f} {median(usual(ratios)):6.3f}  {bound:5.2f} {holds(judged(ratios), bound):5}"
        f"  {100 * median(watches.said_of_block):4.1f}% {100 * median(watches.said):5.1f}%"
        f"  {1e3 * median(watches.opening):6.1f} {1e3 * median(extra(watches, row.measured, row.workload)):6.1f}"
        f" {1e3 * median(watches.closing):6.1f}"
    )


def report(rows: list[Row], skipped: dict[str, str], rounds: int, device: str) -> str:
    """Return the whole account as plain text."""
    lines = [
        "Time of a training step, as a ratio to the bare loop (1.000 costs nothing)",
        f"median of {rounds} rounds, in turns in one process; on {name_of(device)}, torch {torch.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}, {torch.get_num_threads()} thread(s)",
        "",
        *table(rows, cpu if device == "cpu" else wall),
        *(f"{name:16} skipped: {reason}" for name, reason in skipped.items()),
        "",
        "expert: every statistic at every step, without torch's detect_anomaly.",
        "holds: whether the median of CPU ratios (of wall time where the host waits for an accelerator) is within the",
        "bound; ? where its 90% interval reaches across it.",
        "usual: the CPU ratio of the median step, which has nothing in it that only some steps take, as looks do; steps of",
        "a benchmark that counts so look cheaper than they are by the mean.",
        f"open, warm and close are not in the ratios: opening a watch, what its first {NUM_WARM_STEPS} steps (or a "
        "block's, where that has",
        "fewer) cost more than bare ones, and closing it with findings drawn and the run stored.",
        "says of itself: the share of wall time that the run reports as spent inside torchmagic, of the timed block and",
        "of the whole run (run.overhead), which has opening, first steps and closing in it.",
        *(f"The first watch of the process opened in {1e3 * row.first_opening:.0f} ms." for row in rows[:1]),
    ]
    return "\n".join(lines)


def as_json(rows: list[Row]) -> str:
    """Return every round's numbers."""
    return json.dumps(
        {
            row.workload.name: {
                "about": row.workload.about,
                "bare_seconds": {"cpu": cpu(row.measured.bare), "wall": wall(row.measured.bare)},
                "levels": {
                    level: {
                        "bound": BOUNDS[row.workload.name][level],
                        "cpu_ratio": cpu(row.measured.ratios[level]),
                        "wall_ratio": wall(row.measured.ratios[level]),
                        "usual_ratio": usual(row.measured.ratios[level]),
                        **asdict(watches),
                    }
                    for level, watches in row.watches.items()
                },
                "failed": row.measured.failed,
            }
            for row in rows
        },
        indent=1,
    )


def levels_named(text: str) -> list[str]:
    """Read the names of levels."""
    names = [name for name in text.replace(",", " ").split() if name]
    for name in names:
        if name not in LEVELS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(LEVELS)}")
    return names


def main() -> None:
    """Measure what was chosen, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    parser.add_argument("--levels", type=levels_named, default=list(LEVELS), help=f"of {', '.join(LEVELS)}; all")
    parser.add_argument(
        "--device", default="cpu", help="where the trainings are, such as cuda; two larger ones are added"
    )
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    parser.add_argument("--json", type=Path, help="write every round to this file")
    chosen = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    rows, skipped = [], {}
    with away_from_home():
        for workload in (*WORKLOADS, *COMPILED, *(LARGE if chosen.device != "cpu" else ())):
            if chosen.only not in workload.name:
                continue
            step = ready(workload, chosen.device)
            if isinstance(step, str):
                skipped[workload.name] = step
            else:
                rows.append(measure(workload, step, chosen.levels, chosen.rounds))
    text = report(rows, skipped, chosen.rounds, chosen.device)
    print(text)
    for path, content in ((chosen.out, text + "\n"), (chosen.json, as_json(rows) + "\n")):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
