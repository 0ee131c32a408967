"""This file is the cost of describing a tensor, beside the seven reductions that people write by hand."""

import time

import torch

from torchmagic.tensors.describe import describe

SIZES = (1_000, 1_000_000, 10_000_000)
SECONDS_EACH = 1.0


def naive(values):
    return [
        values.min().item(),
        values.max().item(),
        values.mean().item(),
        values.std().item(),
        torch.isnan(values).sum().item(),
        torch.isinf(values).sum().item(),
        (values == 0).sum().item(),
    ]


def fastest(function, values):
    """Seconds of the fastest call within SECONDS_EACH."""
    function(values)
    until, best = time.perf_counter() + SECONDS_EACH, float("inf")
    while time.perf_counter() < until:
        start = time.perf_counter()
        function(values)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, float32, fastest of many calls")
    print("| elements | describe (ms) | seven reductions (ms) | describe (ns an element) |")
    print("|---:|---:|---:|---:|")
    for size in SIZES:
        values = torch.randn(size, generator=torch.Generator().manual_seed(0))
        ours, theirs = fastest(describe, values), fastest(naive, values)
        print(f"| {size:,} | {ours * 1e3:.2f} | {theirs * 1e3:.2f} | {ours / size * 1e9:.1f} |")


if __name__ == "__main__":
    main()
