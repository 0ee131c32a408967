"""This file is what the statistics of gradients and weights cost: microseconds a step on sets of tensors as models have them.

Each way is timed in turns with the others, on tensors that lie still; the table shows the least of the rounds, which
other work on the machine disturbs least.
"""

import argparse
import time
from collections.abc import Callable

import torch

from torchmagic.tensors.changes import Copy
from torchmagic.tensors.moments import moments_of
from torchmagic.tensors.reduce import norms, packs_well, quick_total

SETS = {
    "tiny MLP": [(128, 64), (128,), (128, 128), (128,), (10, 128), (10,)],
    "200 parameters": [(32, 32), (32,)] * 100,
    "small GPT": [(512, 128), *[(384, 128), (384,), (128, 128), (128,), (512, 128), (512,), (128, 512), (128,)] * 4],
    "one of 4 million": [(2048, 2048)],
}
NUM_ROUNDS = 7
# A round of one way takes about so many seconds.
SECONDS = 0.05


def by_item(tensors: list[torch.Tensor]) -> None:
    """The seven statistics as one would write them by hand."""
    for tensor in tensors:
        for value in (tensor.norm(), tensor.mean(), tensor.std(), tensor.abs().max(), (tensor == 0).sum()):
            value.item()
        (~torch.isfinite(tensor)).sum().item()


def ways(tensors: list[torch.Tensor]) -> dict[str, Callable[[], object]]:
    """Return what is timed, by name."""
    pack, pushes = packs_well(tensors), list(tensors)
    return {
        "total": lambda: quick_total(tensors, pack=pack),
        "norms": lambda: norms(tensors),
        "moments": lambda: moments_of(tensors),
        "changes": lambda: Copy(tensors).compare(tensors, pushes),
        "by hand": lambda: by_item(tensors),
    }


def microseconds(deed: Callable[[], object]) -> float:
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        deed()
        count += 1
    return 1e6 * (time.perf_counter() - began) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", default="float32")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    for row, (name, shapes) in enumerate(SETS.items()):
        tensors = [torch.randn(shape).to(getattr(torch, chosen.dtype)) for shape in shapes]
        timed = ways(tensors)
        least = dict.fromkeys(timed, float("inf"))
        for _ in range(NUM_ROUNDS):
            for way, deed in timed.items():
                least[way] = min(least[way], microseconds(deed))
        if not row:
            print(f"{'us a step, ' + chosen.dtype:22}", *(f"{way:>10}" for way in least))
        print(f"{name:22}", *(f"{value:10.1f}" for value in least.values()))


if __name__ == "__main__":
    main()
