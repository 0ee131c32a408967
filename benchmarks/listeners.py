"""This file is where the time of watching goes: microseconds a step in each listener and flush of each probe.

``python benchmarks/listeners.py --only "tiny MLP" --level basic`` prints them, dearest first. Beside them stand what the
wrappers alone cost (a watch that nobody listens to), and the floor under any watch of this kind: the total norm of the
gradients, taken once a step by a hook of the optimizer and nothing else. Timers are in the figures of the listeners,
and every step is told to them: without timers, most steps of ``basic`` go past them (``debuggers/express.py``).
"""

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import torch
from blocks import median
from torch.optim.optimizer import register_optimizer_step_pre_hook
from workloads import WORKLOADS, Step

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.session.session import Session
from torchmagic.tensors.reduce import packs_well, quick_total

NUM_WARM, NUM_CHUNKS, CHUNK = 200, 40, 10


def chunk(step: Step) -> float:
    """Return microseconds a step of a few steps."""
    began = perf_counter_ns()
    for index in range(CHUNK):
        step(index)
    return (perf_counter_ns() - began) / CHUNK / 1e3


def opened(level: str) -> Watch:
    """Return an open watch that keeps nothing; its budget is spent, so that what is always on shows."""
    watching = Watch(Settings(save=False, level=level, budget=0.0), session=Session())
    watching.start()
    return watching


def timed(function: Callable[..., Any], times: list[int]) -> Callable[..., Any]:
    """Return the function with a clock around it."""

    def clocked(*arguments: Any) -> Any:
        began = perf_counter_ns()
        try:
            return function(*arguments)
        finally:
            times.append(perf_counter_ns() - began)

    return clocked


def listeners(step: Step, level: str, num_steps: int) -> dict[str, list[int]]:
    """Return the nanoseconds of each call of each listener and flush."""
    watching, found = opened(level), defaultdict(list)
    for index in range(NUM_WARM):
        step(index)
    every = watching._taps.listeners
    for event, heard in every._all.items():
        every._all[event] = [
            (owner, timed(each, found[f"{type(each.__self__).__name__}.{each.__name__} at {event}"]))
            for owner, each in heard
        ]
    for owner in tuple(every._events):
        every._settle(owner)
    for _, probe in watching._crew._flushing:
        probe.flush = timed(probe.flush, found[f"{type(probe).__name__}.flush"])
    for index in range(num_steps):
        step(index)
    watching.stop()
    return found


def wrappers(step: Step, level: str) -> tuple[float, float]:
    """Return microseconds of a bare step, and what the wrappers add when nobody listens."""
    bare, wrapped = [], []
    for _ in range(NUM_CHUNKS):
        watching = opened(level)
        heard = watching._taps.listeners.awake
        watching._taps.listeners.unlike()
        for event in heard:
            heard[event] = []
        chunk(step)
        wrapped.append(chunk(step))
        watching.stop()
        chunk(step)
        bare.append(chunk(step))
    return median(bare), median(wrapped) - median(bare)


def floor(step: Step) -> float:
    """Return microseconds of taking the total norm of the gradients in a hook of the optimizer."""
    times: list[int] = []
    packs: list[bool] = []

    def measure(optimizer: torch.optim.Optimizer, _args: Any, _kwargs: Any) -> None:
        began = perf_counter_ns()
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not packs:
            packs.append(packs_well(gradients))
        with torch.no_grad():
            quick_total(gradients, pack=packs[0])
        times.append(perf_counter_ns() - began)

    handle = register_optimizer_step_pre_hook(measure)
    for _ in range(NUM_CHUNKS):
        chunk(step)
    handle.remove()
    return statistics.median(times) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="tiny MLP", help="the workload whose name holds this")
    parser.add_argument("--level", default="basic")
    parser.add_argument("--steps", type=int, default=400)
    chosen = parser.parse_args()
    step = next(each for each in WORKLOADS if chosen.only in each.name).make()
    for index in range(NUM_WARM):
        step(index)
    bare, added = wrappers(step, chosen.level)
    print(f"{chosen.only}, {chosen.level}: bare {bare:.0f} us a step; wrappers {added:+.1f}; floor {floor(step):.1f}")
    found = listeners(step, chosen.level, chosen.steps)
    for name, times in sorted(found.items(), key=lambda item: -sum(item[1])):
        if times:
            print(
                f"{sum(times) / chosen.steps / 1e3:8.2f} us a step, in {len(times) / chosen.steps:5.2f} calls  {name}"
            )


if __name__ == "__main__":
    main()
