"""This file is the cost of looking at a tensor: beside the machine's read bandwidth, naive torch, and lovely-tensors.

Each way is timed in turns with the others, and ratios are taken within a round, so that other work on the machine
disturbs them alike; the table shows the median of the rounds. ``lovely-tensors`` is left out where it is not installed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from torchmagic.debuggers.tensorinfo import tensorinfo
from torchmagic.tensors import compiled
from torchmagic.tensors.measure import measure
from torchmagic.tensors.scan import scanned

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
NUM_ROUNDS = 7
# A round of one way takes about so many seconds.
SECONDS = 0.05


def naive(values):
    """What people write by hand: one operator for each number."""
    return [
        values.min().item(),
        values.max().item(),
        values.mean().item(),
        values.std().item(),
        torch.isnan(values).sum().item(),
        torch.isinf(values).sum().item(),
        (values == 0).sum().item(),
    ]


def pure(values):
    """The same pass without the compiled code."""
    with_numba, compiled._is_there = compiled._is_there, lambda: False
    try:
        return scanned(values)
    finally:
        compiled._is_there = with_numba


def ways():
    found = {
        "sum (bandwidth)": torch.sum,
        "one pass": scanned,
        "one pass, torch only": pure,
        "all of %tensorinfo": tensorinfo,
        "naive torch": naive,
    }
    try:
        import lovely_tensors

        found["lovely-tensors"] = lambda values: str(lovely_tensors.lovely(values))
    except ImportError:
        pass
    return found


def seconds(deed, values):
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        deed(values)
        count += 1
    return (time.perf_counter() - began) / count


def peak_mib(size, full, fast):
    """Extra memory, in MiB, of measuring a tensor of so many elements, in a process of its own; libraries not counted."""
    code = f"""
import resource, torch
from torchmagic.tensors.measure import measure
from torchmagic.tensors.scan import scanned
from torchmagic.tensors import compiled
torch.set_num_threads({torch.get_num_threads()})
compiled._is_there = lambda: {fast}
if {fast}:
    import numba
measure(torch.ones(1 << 22))
measure(torch.randn(1 << 15), full={full})
values = torch.empty({size}).uniform_()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
measure(values, full={full})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--sizes", type=float, nargs="*", default=SIZES)
    parser.add_argument("--ways", nargs="*", default=list(ways()), choices=list(ways()), help="columns; default all")
    parser.add_argument("--memory", type=float, help="also the extra memory, for a tensor of so many elements")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    timed = {name: deed for name, deed in ways().items() if name in chosen.ways}
    print(f"torch {torch.__version__}, {chosen.threads} threads, float32, numba {compiled._is_there()}")
    if compiled._is_there():
        import numba  # noqa: F401 - so that the first use is over

        scanned(torch.ones(compiled.LATER_USE))
    print("milliseconds (times the sum)")
    print("| elements |", " | ".join(timed), "|")
    print("|---:|" + "---:|" * len(timed))
    for size in map(int, chosen.sizes):
        values = torch.randn(size, generator=torch.Generator().manual_seed(0))
        rounds = []
        for deed in timed.values():
            deed(values)
        for _ in range(NUM_ROUNDS if size < 10**8 else 3):
            rounds.append([seconds(deed, values) for deed in timed.values()])
        middle = [statistics.median(each) for each in zip(*rounds)]
        ratios = [statistics.median(each[i] / each[0] for each in rounds) for i in range(len(middle))]
        cells = [f"{1e3 * each:.3g} ({ratio:.2g})" for each, ratio in zip(middle, ratios)]
        print(f"| {size:,} |", " | ".join(cells), "|", flush=True)
        del values
    if chosen.memory:
        for full, fast in ((False, True), (False, False), (True, True)):
            mib = peak_mib(int(chosen.memory), full, fast)
            print(
                f"extra memory at {int(chosen.memory):,} elements, full={full}, numba={fast}: {mib:.1f} MiB", flush=True
            )


if __name__ == "__main__":
    main()
