"""This file is what watching costs where a training has ranks: the time of a step of each, as a ratio to the bare loop.

It launches two real ranks (gloo on loopback) that train the ResNet-like CNN under DDP. Both run bare and watched in
turns within one process (see ``blocks.py``), in the same order on both. ``ranks alone`` is the watch of a rank with
hardly anything else: its file, its beat, collectives, checksums and batches; the others are ``torchmagic.watch()`` at a
level. Opening and closing a watch and its first steps are told apart, with what the checksums of the steps 0, 1, 2, 4,
8, 16 and 32 cost.

Run it alone on a quiet machine with two free cores, some four minutes:

    OMP_NUM_THREADS=1 python benchmarks/ranks.py --out benchmarks/results/ranks-cpu.txt
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean

NUM_RANKS, NUM_ROUNDS, NUM_STEPS = 2, 11, 20
# The most that watching may cost in the mean of the ranks, as a ratio of CPU time.
BOUND, BOUNDED = 1.03, {"ranks alone", "basic"}
WAYS = {
    "ranks alone": {"level": "basic", "only": "forward"},
    "basic": {"level": "basic"},
    "advanced": {"level": "advanced"},
}
HEAD = f"{'':12} {'rank':>4} {'CPU time':>19} {'wall time':>19} {'first steps':>12} {'open':>8} {'close':>8}"


def train(rounds: int, names: list[str]) -> dict[str, object]:
    """Run as one rank; return the ratios of each way, and what its watches cost beside the timed steps."""
    import torch
    from blocks import Times, block, in_turns, median
    from torch import distributed, nn
    from torch.nn.parallel import DistributedDataParallel
    from workloads import resnet

    import torchmagic

    distributed.init_process_group("gloo")
    training = resnet()
    model, optimizer = DistributedDataParallel(training.model), training.optimizer
    batches = [(torch.randn(32, 3, 32, 32), torch.randint(10, (32,))) for _ in range(8)]
    criterion = nn.CrossEntropyLoss()

    def step(index: int) -> None:
        x, y = batches[index % len(batches)]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

    beside = {name: {"opening": [], "closing": [], "warming": []} for name in names}

    def watched(name: str) -> Times:
        began = time.perf_counter()
        with torchmagic.watch(**WAYS[name]):
            opened = time.perf_counter()
            block(step, NUM_STEPS)
            warmed = time.perf_counter()
            times = block(step, NUM_STEPS)
            ended = time.perf_counter()
        found = beside[name]
        found["closing"].append(time.perf_counter() - ended)
        found["opening"].append(opened - began)
        found["warming"].append(warmed - opened)
        torchmagic.session.clear()
        return times

    for name in names:
        watched(name)
        beside[name] = {"opening": [], "closing": [], "warming": []}
    measured = in_turns(step, NUM_STEPS, {name: (lambda name=name: watched(name)) for name in names}, rounds=rounds)
    distributed.destroy_process_group()
    bare = median([each.wall for each in measured.bare])
    return {
        "bare": bare,
        "failed": measured.failed,
        "ratios": {name: [(each.cpu, each.wall) for each in found] for name, found in measured.ratios.items()},
        "beside": {
            name: {
                "opening": median(found["opening"]),
                "closing": median(found["closing"]),
                "extra": median(found["warming"]) - NUM_STEPS * bare,
            }
            for name, found in beside.items()
        },
    }


def launched(rounds: int, names: list[str], folder: Path) -> list[dict]:
    """Launch the ranks; return what each measured."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = str(door.getsockname()[1])
    shared = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(NUM_RANKS)}
    command = [sys.executable, __file__, "--rounds", str(rounds), "--ways", ",".join(names), "--as-rank"]
    processes = [
        subprocess.Popen(command, env=shared | {"RANK": str(rank)}, cwd=folder, stdout=subprocess.PIPE, text=True)
        for rank in range(NUM_RANKS)
    ]
    return [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]


def table(found: list[dict], names: list[str]) -> list[str]:
    """Return the figures as lines."""
    from blocks import median, with_interval

    lines = [HEAD]
    for name in names:

        def columns(each: dict, name: str = name) -> list[list[float]]:
            return [list(column) for column in zip(*each["ratios"][name], strict=True)]

        for rank, each in enumerate(found):
            cpu, wall = zip(*each["ratios"][name], strict=True)
            beside = each["beside"][name]
            lines.append(
                f"{name:12} {rank:>4} {with_interval(cpu)} {with_interval(wall)}"
                f" {1000 * beside['extra']:>+9.0f} ms {1000 * beside['opening']:>5.0f} ms {1000 * beside['closing']:>5.0f} ms"
            )
        # What else runs on the machine falls on one rank now and on the other then.
        cpu, wall = (
            [mean(both) for both in zip(*each, strict=True)] for each in zip(*map(columns, found), strict=True)
        )
        holds = f"within {BOUND:.2f}: {'yes' if median(cpu) <= BOUND else 'NO'}" if name in BOUNDED else ""
        lines.append(f"{name:12} mean {with_interval(cpu)} {with_interval(wall)}   {holds}".rstrip())
    bare = " and ".join(f"{1000 * each['bare']:.1f} ms" for each in found)
    return [*lines, "", f"A bare step takes {bare}; {NUM_STEPS} steps a block, as many before each watched one."]


def main() -> None:
    """Launch, and print the table; or be one of the ranks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--as-rank", action="store_true")
    chosen = parser.parse_args()
    names = chosen.ways.split(",")
    if chosen.as_rank:
        print(json.dumps(train(chosen.rounds, names)))
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="benchmarks_") as folder:
        lines = table(launched(chosen.rounds, names, Path(folder)), names)
    print("\n".join(lines))
    if chosen.out is not None:
        chosen.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
