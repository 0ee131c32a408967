"""This file is the peers beside torchmagic: what other tools cost on the same trainings, in the same run.

Every tool of ``peer_list.py`` that is installed runs on every workload, in turns with the bare loop and with the
levels of torchmagic that tell as much; the others are named as skipped. A tool that raises has the reason in its row.
Only what the tool does in this process counts as its CPU time: wandb has a second process, which is not in it.

It needs an environment of its own, for some of the tools are large; install them one by one, so that one that does not
fit does not keep the others out:

    python -m venv /tmp/peers
    /tmp/peers/bin/pip install -c constraints.txt -e .
    grep -v '^#' benchmarks/requirements-peers.txt | xargs -n 1 /tmp/peers/bin/pip install -c constraints.txt

Then run it alone on a quiet machine, half an hour (``make peers`` does all of this in ``build/peers``):

    OMP_NUM_THREADS=1 /tmp/peers/bin/python benchmarks/peers.py --out benchmarks/results/peers-cpu.txt
"""

import argparse
import copy
import importlib.metadata
import io
import os
import platform
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import torch
from blocks import Measured, Times, Way, block, cpu, in_turns, interval, median, wall, with_interval
from peer_list import PEERS, Peer
from watched import Watches, away_from_home, watched
from workloads import WORKLOADS, Training, Workload

NUM_ROUNDS = 9
NUM_WARM_STEPS = 5
# A dear tool does fewer steps a block, so that a round ends; seconds.
LONGEST_BLOCK = 2.0
FEWEST_STEPS = 4


@dataclass(slots=True)
class Row:
    """What was measured of one workload."""

    workload: Workload
    measured: Measured


def twin(training: Training, workload: Workload) -> Training:
    """Return the same training again, where it stands.

    Some tools leave behind what cannot be taken off, such as an accumulation hook that is empty but still called: each
    gets a training of its own, so that neither the bare loop nor the next tool pays for it.
    """
    with torch.random.fork_rng(devices=[]):
        made = workload.make()
    made.model.load_state_dict(training.model.state_dict())
    made.optimizer.load_state_dict(copy.deepcopy(training.optimizer.state_dict()))  # it would share the tensors
    return made


def peered(peer: Peer, training: Training, num_steps: int, folder: Path) -> Times:
    """Time a block with a tool around the training."""
    quiet = io.StringIO()
    with (
        warnings.catch_warnings(action="ignore"),
        redirect_stdout(quiet),
        redirect_stderr(quiet),
        tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own,
        peer.attach(training, Path(own)) as step,
    ):
        warm = block(step, NUM_WARM_STEPS)
        return block(step, max(FEWEST_STEPS, min(num_steps, int(LONGEST_BLOCK / warm.wall))))


def measure(workload: Workload, peers: list[Peer], rounds: int, folder: Path) -> Row:
    """Run one workload bare, with every tool and at the levels to compare, in turns."""
    training, num_steps = workload.make(), workload.num_steps
    watches = dict.fromkeys(each for peer in peers for each in peer.watches)
    for level, *only in watches:
        watched(training.step, 2, level, Watches(), only=tuple(only))  # loads what a watch loads

    def of_peer(peer: Peer) -> Way:
        return lambda: peered(peer, twin(training, workload), num_steps, folder)

    def of_level(level: str, *only: str) -> Way:
        return lambda: watched(twin(training, workload).step, num_steps, level, Watches(), only=only)

    ways = {peer.name: of_peer(peer) for peer in peers} | {" ".join(each): of_level(*each) for each in watches}
    return Row(workload, in_turns(training.step, num_steps, ways, rounds=rounds))


def cheaper(ours: list[float], theirs: list[float]) -> str:
    """Say whether our median is the smaller, with a question mark where the intervals overlap."""
    (low, high), (their_low, their_high) = interval(ours), interval(theirs)
    sure = high < their_low or their_high < low
    return ("yes" if median(ours) < median(theirs) else "NO") + ("" if sure else " ?")


def table(rows: list[Row], peers: list[Peer]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'':16} {'':>9} {'':28}  {'the tool':^26}  {'torchmagic, at the level of equal information, and at another':^60}"
    yield (
        f"{'workload':16} {'ms a step':>9} {'tool':28}  {'CPU':>6} {'(90%)':>12} {'wall':>6}"
        + 2 * f"  {'level':>9} {'CPU':>6} {'wall':>6} {'cheaper':7}"
    )
    for row in rows:
        name, bare = row.workload.name, f"{1e3 * median(wall(row.measured.bare)):.2f}"
        for peer in peers:
            yield f"{name:16} {bare:>9} {peer.name:28}  {cells(row.measured, peer)}".rstrip()
            name = bare = ""


def cells(measured: Measured, peer: Peer) -> str:
    """Return the cells of one tool."""
    if peer.name in measured.failed:
        reason = " ".join(measured.failed[peer.name].split())
        return f"failed: {reason if len(reason) <= 150 else reason[:147] + '...'}"
    theirs = measured.ratios[peer.name]
    line = f"{with_interval(cpu(theirs))} {median(wall(theirs)):6.3f}"
    for watch in peer.watches:
        way, level = " ".join(watch), watch[0] + ("*" if len(watch) > 1 else "")
        if way in measured.failed:
            line += f"  {level:>9} failed: {measured.failed[way]}"
            continue
        ours = measured.ratios[way]
        line += f"  {level:>9} {median(cpu(ours)):6.3f} {median(wall(ours)):6.3f} {cheaper(cpu(ours), cpu(theirs)):7}"
    return line


def report(rows: list[Row], peers: list[Peer], skipped: Mapping[str, str], rounds: int) -> str:
    """Return the whole account as plain text."""
    packages = dict.fromkeys(peer.package for peer in peers if peer.package != "torch")
    lines = [
        "Time of a training step under other tools and under torchmagic, as a ratio to the bare loop",
        f"median of {rounds} rounds, in turns in one process; torch {torch.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}, {torch.get_num_threads()} thread(s)",
        ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages),
        "",
        *table(rows, peers),
        *(f"{name}: skipped, {reason}" for name, reason in skipped.items()),
        "",
        "cheaper: whether torchmagic's median of CPU ratios is the smaller; ? where the 90% intervals overlap.",
        "Every tool looks at every step; expert does, too, while the other levels keep to their budget of dear statistics.",
        *(f"* of these probes alone, beside {peer.name}: {', '.join(peer.only)}" for peer in peers if peer.only),
        "What each tool tells:",
        *(f"  {peer.name:28} {peer.tells}" for peer in peers),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure what is installed, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    parser.add_argument("--peers", default="", help="tools whose name holds one of these, with commas between")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    chosen = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    wanted = [peer for peer in PEERS if any(part in peer.name for part in chosen.peers.split(","))]
    skipped = {peer.name: reason for peer in wanted if (reason := peer.absent())}
    peers = [peer for peer in wanted if peer.name not in skipped]
    with away_from_home() as folder:
        rows = [measure(each, peers, chosen.rounds, folder) for each in WORKLOADS if chosen.only in each.name]
    text = report(rows, peers, skipped, chosen.rounds)
    print(text)
    if chosen.out is not None:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
