"""This file is how far ranks scale: seconds and memory to read, merge, judge and draw the runs of very many of them.

No such cluster is at hand, so the files of its ranks are made: each is written by the store that a real rank writes
by, with the records and series that a real rank of that length leaves. One rank is slow, one loses its loss to NaN, and
one is left as if it had been killed. Reading is done by another process, whose greatest memory is printed.

``python benchmarks/many_ranks.py`` prints the table; ``--ranks``, ``--steps`` and ``--parameters`` change the size.
"""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from torchmagic.records.model import LoaderRecord, ModelRecord, OptimizerRecord, ParameterRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.rank_beats import BeatRecord
from torchmagic.records.ranks import (
    Checked,
    ChecksumRecord,
    LoaderPassRecord,
    RandomStateRecord,
    RankRecord,
    Wrapping,
    WrapRecord,
)
from torchmagic.rules.judgement import judge
from torchmagic.session.beats import write_beat
from torchmagic.session.launches import folder_of, read_launch, store_of
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session
from torchmagic.views.pages import run_pages
from torchmagic.views.ranks import ranks_page
from torchmagic.views.skins.html import as_html_document
from torchmagic.views.skins.matplotlib import as_png
from torchmagic.views.skins.text import as_text

LAUNCH = "20261122-040000-a1b2c3"
PER_PARAMETER = (
    "grad_norm", "grad_mean", "grad_std", "grad_abs_max", "grad_zero_share", "grad_nonfinite", "weight_norm",
    "update_ratio",
)  # fmt: skip
PER_MODULE = ("activation_mean", "activation_std", "activation_abs_max", "activation_zero_share")
PHASES = ("data", "forward", "backward", "optimizer", "other")
# Statistics come as often as their budget allows; a step in ten is usual for small models.
STATISTICS_EVERY = 10
# Where real ranks take checksums, and up to which of them tensor by tensor.
CHECKED = (0, *(1 << power for power in range(7)), *range(128, 100_000, 64))
DETAILED = 24
PASSES, BATCHES = 4, 64
RANKS_A_HOST = 8


def rank_run(rank: int, chosen: argparse.Namespace) -> Run:
    """Return a run as a rank of a healthy training would have left it, but for three of them."""
    draw = random.Random(rank)
    run = Run(name="simulated", settings={"level": "advanced"})
    run.number, run.steps, run.status = 1 + 10_000 * rank, chosen.steps, Status.OK
    names = tuple(f"net.layer{i // 2}.{'bias' if i % 2 else 'weight'}" for i in range(chosen.parameters))
    run.records += [*cast(rank, chosen.ranks, names), *checks(chosen.steps, names), *passes(rank, chosen.ranks)]
    slow, broken = chosen.ranks // 3, chosen.ranks // 2
    modules = tuple(dict.fromkeys(name.rpartition(".")[0] for name in names))
    for step in range(chosen.steps):
        run.steps = step
        noise = 1.0 + 0.02 * draw.random()
        own = 0.06 if rank == slow else 0.04
        row = (0.002 * noise, own * noise, (0.10 - own) * noise, 0.005 * noise, 0.001)
        run.frame("seconds", PHASES).append(step, row)
        run.frame("step_wall", ("",)).append(step, (1.8e9 + 0.108 * step,))
        run.frame("batch_wait", ("loader",)).append(step, (0.002 * noise,))
        loss = 2.3 * math.exp(-step / 800) * noise
        run.frame("loss", ("loss",)).append(step, (math.nan if rank == broken and step >= chosen.steps - 1 else loss,))
        run.frame("grad_norm", ("",)).append(step, (1.0 / (1 + step),))
        run.frame("lr", ("optimizer[0]",)).append(step, (1e-3,))
        run.frame("gradient_sync", ("reduced", "withheld", "bypassed")).append(step, (1.0, 0.0, 0.0))
        if step < 10 or step % 100 == 0:
            run.frame("sync_wait", ("",)).append(step, (0.001 * noise if rank == slow else 0.021 * noise,))
            run.frame("sync_seconds", ("",)).append(step, (0.03 * noise,))
        if step % STATISTICS_EVERY == 0:
            for metric in PER_PARAMETER:
                run.frame(metric, names).append(step, [1e-3 * noise] * len(names))
            for metric in PER_MODULE:
                run.frame(metric, modules).append(step, [0.1 * noise] * len(modules))
    run.steps = chosen.steps
    run.clock.seconds, run.clock.cost = 0.108 * chosen.steps, 0.002 * chosen.steps
    if rank == chosen.ranks - 2:
        run.status = Status.RUNNING  # and no process has it open: it was killed
    return run


def cast(rank: int, num_ranks: int, names: tuple[str, ...]) -> list[object]:
    host = f"node{rank // RANKS_A_HOST:03}"
    return [
        EnvironmentRecord(torch="2.13.0", python="3.11", platform="Linux", device="cpu", num_threads=1, num_cores=64),
        RankRecord(
            launch=LAUNCH, sequence=0, rank=rank, world_size=num_ranks, local_rank=rank % RANKS_A_HOST,
            num_local=RANKS_A_HOST, host=host, pid=1000 + rank, backend="gloo", device="cpu", launcher="torchrun",
            wall=1.8e9, monotonic=0.0,
        ),
        WrapRecord(
            model="net", wrapper=Wrapping.DDP, num_parameters=len(names), ignored=(), find_unused_parameters=False,
            static_graph=False, broadcast_buffers=True, num_batch_norms=0, num_synced_batch_norms=0, num_shards=1,
            place=None,
        ),
        RandomStateRecord(moment="start", seed=rank, torch=f"{rank:08x}", numpy=f"{rank:08x}", python=f"{rank:08x}"),
        ModelRecord(name="net", class_name="Net", num_parameters=10**7, num_trainable=10**7, num_bytes=4 * 10**7),
        OptimizerRecord(name="optimizer", class_name="AdamW", lr=(1e-3,), parameters=names),
        LoaderRecord(
            name="loader", batch_size=32, num_workers=4, sampler="DistributedSampler", num_batches=BATCHES,
            shuffle=True, num_samples=32 * BATCHES * num_ranks,
        ),
        *(
            ParameterRecord(
                name=name, model="net", module=name.rpartition(".")[0], shape=(64, 64), dtype="float32", device="cpu",
                trainable=True,
            )
            for name in names
        ),
    ]  # fmt: skip


def checks(steps: int, names: tuple[str, ...]) -> list[object]:
    looks = [step for step in CHECKED if step < steps] + [steps]
    return [
        ChecksumRecord(
            step=step,
            model="net",
            what=what,
            whole=f"{step:08x}",
            digests={name: f"{(step * 31 + i * 7919) & 0xFFFFFFFF:08x}" for i, name in enumerate(names)}
            if number < DETAILED or step == steps
            else {},
            last=step == steps,
        )
        for number, step in enumerate(looks)
        for what in ((Checked.WEIGHT,) if step == steps else (Checked.WEIGHT, Checked.GRADIENT))
    ]


def passes(rank: int, num_ranks: int) -> list[object]:
    return [
        LoaderPassRecord(
            loader="loader", number=number, step=BATCHES * number, num_batches=BATCHES, num_trained=BATCHES,
            finished=True, batch_size=32, num_samples=32 * BATCHES * num_ranks, num_expected=BATCHES,
            samplers=("DistributedSampler",), sharded=True, replicas=num_ranks, replica=rank, shuffle=True,
            epoch=number, indices=tuple(f"{(rank * 64 + batch) * 4 + number:08x}" for batch in range(BATCHES)),
            contents=tuple(f"{(rank * 64 + batch) * 4 + number:016x}" for batch in range(8)),
        )
        for number in range(PASSES)
    ]  # fmt: skip


def make(project: Path, chosen: argparse.Namespace) -> None:
    """Write the files of all ranks."""
    folder = folder_of(project, LAUNCH)
    folder.mkdir(parents=True)
    for rank in range(chosen.ranks):
        run, session = rank_run(rank, chosen), Session(file=store_of(folder, rank))
        session.write(run, final=True)
        session.close()
        write_beat(
            folder,
            BeatRecord(
                rank=rank, host=f"node{rank // RANKS_A_HOST:03}", pid=1000 + rank, status=run.status.value,
                step=run.steps, event="step done", inside=False, seconds=0.1, place=None, wall=1.8e9,
            ),
        )  # fmt: skip


def read(folder: Path, out: Path) -> dict[str, float]:
    """Read, merge, judge and draw what is in a folder; return the seconds of each, and the memory."""
    marks, busy = [time.perf_counter()], [time.process_time()]
    ranks = read_launch(folder)
    runs = [ranks.runs[rank] for rank in ranks.runs]
    run = runs[0]
    run.join(ranks)
    marks.append(time.perf_counter())
    run.findings = judge(run, told)
    marks.append(time.perf_counter())
    text = as_text(ranks_page(run))
    marks.append(time.perf_counter())
    (out / "ranks.html").write_text(as_html_document(run_pages(run), title="ranks", draw=as_png), encoding="utf-8")
    marks.append(time.perf_counter())
    (out / "ranks.txt").write_text(text, encoding="utf-8")
    seconds = dict(
        zip(
            ("read and merge", "judge", "page as text", "report as html"),
            (b - a for a, b in zip(marks, marks[1:], strict=False)),
            strict=True,
        )
    )
    busy.append(time.process_time())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = [finding.title for finding in run.findings]
    return {
        **seconds,
        "peak": peak,
        "busy": busy[-1] - busy[0],
        "characters": len(text),
        "found": found,
        "read": ranks.num_read,
    }


def told(rule: str, error: Exception) -> None:
    raise RuntimeError(f"{rule} raised") from error


def main() -> None:
    """Make the files, read them in another process, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--parameters", type=int, default=62)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--text", action="store_true", help="print the page as well")
    chosen = parser.parse_args()
    if chosen.make is not None:
        make(chosen.make, chosen)
        os._exit(0)  # as a process ends that is killed
    if chosen.read is not None:
        print(json.dumps(read(chosen.read, chosen.out)))
        return
    with tempfile.TemporaryDirectory() as home:
        out = chosen.out or Path(home)
        began = time.perf_counter()
        # by another process, which is gone then: a run that it left open is one of a rank that was killed
        sizes = [f"--{name}={getattr(chosen, name)}" for name in ("ranks", "steps", "parameters")]
        subprocess.run([sys.executable, __file__, "--make", home, *sizes], check=True)
        folder = folder_of(Path(home), LAUNCH)
        made = time.perf_counter() - began
        size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
        command = [sys.executable, __file__, "--read", str(folder), "--out", str(out)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        report(json.loads(done.stdout), chosen, made, size)
        if chosen.text:
            print((out / "ranks.txt").read_text(encoding="utf-8"))


def report(found: dict, chosen: argparse.Namespace, made: float, size: float) -> None:
    print(f"{found['read']:,} ranks, {chosen.steps:,} steps, {chosen.parameters} parameters: {size:,.0f} MiB of files")
    names = ("read and merge", "judge", "page as text", "report as html")
    for name in names:
        print(f"  {name:<16}{found[name]:8.2f} s")
    print(
        f"  {'together':<16}{sum(found[name] for name in names):8.2f} s   (bound: 60 s; {found['busy']:.1f} s of processor)"
    )
    print(f"  {'greatest memory':<16}{found['peak']:8,.0f} MiB (bound: 4,096 MiB)")
    print(f"the page as text has {found['characters']:,} characters; making the files took {made:.0f} s")
    for title in found["found"]:
        print(f"  found: {title}")


if __name__ == "__main__":
    main()
