"""This file is what profiling costs: the time of a profiled step, as a ratio to the bare loop, ours beside torch's own.

Every workload runs bare, under ``torch.profiler`` and under ``torchmagic.profile()``, in turns within one process (see
``blocks.py``). The ratio is that of the profiled steps alone; what ending a profile takes is in columns of its own: to
stop torch's profiler, and to read what it noted down. The source of the workloads is loaded without its
``torch.compile``, beside which lines are not timed.

Run it alone on a quiet machine, some five minutes:

    OMP_NUM_THREADS=1 python benchmarks/profiling.py --out benchmarks/results/profiling-cpu.txt
"""

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
COMPILED = "torch.compile(model) if compiled else model"


def load_workloads(folder: Path) -> ModuleType:
    """Load the workloads, without the compiler, under their own name."""
    file = folder / "workloads.py"
    file.write_text((HERE / "workloads.py").read_text(encoding="utf-8").replace(COMPILED, "model"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("workloads", file)
    module = sys.modules["workloads"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_folder = tempfile.TemporaryDirectory(prefix="benchmarks_")
workloads = load_workloads(Path(_folder.name))

import torch
from blocks import Measured, Times, block, cpu, in_turns, median, wall, with_interval
from watched import away_from_home
from workloads import Step, Workload

import torchmagic
from torchmagic.records.note import FailureRecord
from torchmagic.records.costs import CostsRecord
from torchmagic.records.profile import ProfileRecord

NUM_ROUNDS, NUM_WARM_STEPS = 15, 2
# The most that profiling at default options may cost, as a ratio of CPU time to the bare loop.
BOUND, BOUNDED = 1.15, ("ResNet-like CNN", "small GPT")
OURS = {"ours": {}, "ours+all": {"memory": True, "stacks": True, "flops": True, "shapes": True}}
THEIRS = {
    "torch": {},
    "torch+all": {"profile_memory": True, "with_stack": True, "with_flops": True, "record_shapes": True},
}


@dataclass(slots=True)
class Ends:
    """What the end of a profile takes, one value a round: seconds, and events."""

    stopping: list[float] = field(default_factory=list)
    reading: list[float] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def theirs(step: Step, num_steps: int, options: dict[str, bool], ends: Ends) -> Times:
    """Time a block under torch's profiler."""
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options)
    profiler.start()
    block(step, NUM_WARM_STEPS)
    times = block(step, num_steps)
    began = time.perf_counter()
    profiler.stop()
    ends.stopping.append(time.perf_counter() - began)
    ends.events.append(len(profiler.profiler.kineto_results.events()))
    return times


def ours(step: Step, num_steps: int, options: dict[str, bool], ends: Ends) -> Times:
    """Time a block under ``torchmagic.profile``; one more step, after the block, ends its window.

    Raises:
        RuntimeError: If something failed, so that less was profiled than asked for.
    """
    with torchmagic.profile(steps=num_steps + 1, warmup=NUM_WARM_STEPS, **options) as run:
        block(step, NUM_WARM_STEPS)
        times = block(step, num_steps)
        began = time.perf_counter()
        block(step, 1)
        ends.stopping.append(time.perf_counter() - began - times.wall)
    failures, profile = run.of(FailureRecord), run.of(ProfileRecord)
    torchmagic.session.clear()
    if failures or not profile or profile[0].steps != num_steps + 1:
        raise RuntimeError(f"{failures[0].probe} failed: {failures[0].error}" if failures else "no profile came")
    ends.reading.append(profile[0].reading)
    ends.events.append(profile[0].events)
    ends.lines.append(len(run.of(CostsRecord)[0].lines))
    return times


def measure(workload: Workload, chosen: list[str], rounds: int) -> tuple[Measured, dict[str, Ends]]:
    """Run one workload in all ways, in turns."""
    step, count = workload.make().step, workload.num_steps
    ends = {name: Ends() for name in (*THEIRS, *OURS)}
    ways = {
        **{name: (lambda name=name: theirs(step, count, THEIRS[name], ends[name])) for name in THEIRS},
        **{name: (lambda name=name: ours(step, count, OURS[name], ends[name])) for name in OURS},
    }
    ways = {name: way for name, way in ways.items() if name in chosen}
    for way in ways.values():
        way()  # loads what it loads
    for each in ends.values():
        for values in (each.stopping, each.reading, each.events, each.lines):
            values.clear()
    return in_turns(step, count, ways, rounds=rounds), ends


def table(workload: Workload, measured: Measured, ends: dict[str, Ends]) -> Iterator[str]:
    """Yield the lines of one workload."""
    name, bare = workload.name, f"{1e3 * median(wall(measured.bare)):.2f}"
    for way, ratios in measured.ratios.items():
        if way in measured.failed:
            yield f"{name:16} {bare:>9} {way:>10}  {measured.failed[way]}"
            continue
        held = ""
        if way == "ours" and workload.name in BOUNDED:
            held = f"{BOUND:.2f} {'yes' if median(cpu(ratios)) <= BOUND else 'NO'}"
        end = ends[way]
        reading = f"{1e3 * median(end.reading):7.0f}" if end.reading else f"{'-':>7}"
        lines = f"{median(end.lines):5.0f}" if end.lines else f"{'-':>5}"
        yield (
            f"{name:16} {bare:>9} {way:>10}  {with_interval(cpu(ratios))} {median(wall(ratios)):6.3f}  {held:9}"
            f" {median(end.events):8,.0f} {lines} {1e3 * median(end.stopping):7.0f} {reading}"
        )
        name = bare = ""


def main() -> None:
    """Measure what was chosen, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    parser.add_argument("--ways", default=",".join((*THEIRS, *OURS)), help="of torch, torch+all, ours, ours+all")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    chosen = parser.parse_args()
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # it tells the terminal of every start
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    lines = [
        "Time of a profiled training step, as a ratio to the bare loop (1.000 costs nothing)",
        f"median of {chosen.rounds} rounds, in turns in one process; torch {torch.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}, {torch.get_num_threads()} thread(s)",
        "",
        f"{'workload':16} {'bare (ms)':>9} {'way':>10}  {'CPU':>6} {'(90%)':>12} {'wall':>6}  {'bound':9}"
        f" {'events':>8} {'lines':>5} {'stop ms':>7} {'read ms':>7}",
    ]
    with away_from_home():
        for workload in workloads.WORKLOADS:
            if chosen.only in workload.name:
                lines += table(workload, *measure(workload, chosen.ways.split(","), chosen.rounds))
    lines += ["", "+all: memory, stacks, operations and shapes. lines: those of the user's that were timed."]
    text = "\n".join(lines)
    print(text)
    if chosen.out is not None:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
