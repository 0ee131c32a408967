"""This file is what the optimisation modes are worth here, and how often a mode against itself seems to be different.

First the plain loop is compared with itself, twenty times for each of three models: at least nineteen must come out as
no difference. Then every mode is compared with the plain loop.

Run it alone on a quiet machine, some five minutes; ``--quick`` leaves out what compiles:

    OMP_NUM_THREADS=1 python benchmarks/tuning.py --out benchmarks/results/tuning-cpu.txt
"""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

import torch
from torch import nn

from torchmagic import OptimizationMode, PyTorchOptimizer

RUNS, FEWEST = 20, 19
COMPILED = (OptimizationMode.COMPILATION, OptimizationMode.FULL_OPTIMIZATION)


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        widths = [3, 32, 32, 64]
        pairs = zip(widths, widths[1:])
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()) for a, b in pairs
        )
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(64, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embedding(tokens)).mean(1))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


MODELS = {
    "MLP": (mlp, lambda: torch.randn(128, 64)),
    "CNN": (Cnn, lambda: torch.randn(16, 3, 32, 32)),
    "transformer": (Transformer, lambda: torch.randint(0, 100, (16, 64))),
}


def training(name: str) -> tuple[nn.Module, list, torch.optim.Optimizer]:
    make, inputs = MODELS[name]
    torch.manual_seed(0)
    model = make()
    batches = [(inputs(), torch.randint(0, 10, (len(inputs()),))) for _ in range(8)]
    return model, batches, torch.optim.AdamW(model.parameters(), lr=1e-3)


def results(name: str, modes: list[OptimizationMode]) -> dict:
    model, batches, optimizer = training(name)
    criterion = nn.CrossEntropyLoss()
    return PyTorchOptimizer().benchmark_optimizations(model, batches, optimizer, criterion, epochs=4, modes=modes)


def against_itself(name: str) -> str:
    begin = time.perf_counter()
    found = [results(name, [OptimizationMode.NONE])["none"] for _ in range(RUNS)]
    same = sum(each["speedup_verdict"] == "no difference" for each in found)
    factors = sorted(each["speedup_factor"] for each in found)
    # An interval without an end: too few steps were done in the time.
    widths = sorted(each["speedup_high"] / (each["speedup_low"] or 1e-9) - 1 for each in found)
    told = "as it must be" if same >= FEWEST else "TOO FEW"
    return (
        f"{name:12} no difference in {same} of {RUNS} ({told}); factors {factors[0]:.3f} to {factors[-1]:.3f}, "
        f"interval {widths[RUNS // 2]:.1%} wide; {time.perf_counter() - begin:.0f} s"
    )


def table(name: str, modes: list[OptimizationMode]) -> list[str]:
    lines = [
        f"{name:12} {'step':>9} {'speed-up, 99% interval':>26} {'memory':>9} {'saved':>7} {'first step':>10}  agreement"
    ]
    for mode, row in results(name, modes).items():
        if "error" in row:
            lines.append(f"  {mode.value}: {row['error']}")
            continue
        interval = f"{row['speedup_factor']:.2f} ({row['speedup_low']:.2f} to {row['speedup_high']:.2f})"
        lines.append(
            f"  {mode.value:22} {row['step_time'] * 1e3:6.2f} ms {interval:>22} {row['speedup_verdict']:14} "
            f"{row['memory']:6.2f} MiB {row['memory_savings']:6.0%} {row['first_step_time']:8.2f} s  {row['agreement']}"
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, help="also write here")
    parser.add_argument("--quick", action="store_true", help="leave out what compiles")
    arguments = parser.parse_args()
    modes = [mode for mode in OptimizationMode if not (arguments.quick and mode in COMPILED)]
    lines = [
        f"torch {torch.__version__}, Python {platform.python_version()}, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}"
    ]
    print(lines[0], flush=True)
    for part in (lambda name: [against_itself(name)], lambda name: table(name, modes)):
        for name in MODELS:
            new = part(name)
            print("\n".join(new), flush=True)
            lines += new
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(any("TOO FEW" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
