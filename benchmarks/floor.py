"""This file is the floor under what watching costs: the least that the same information takes, without torchmagic.

Three bare ways to know what a level knows, each on top of the one before it, in turns with the bare loop:

- calls: the functions of torch that a level has to hear of, each behind one empty Python function;
- basic: and every step the total norm of the gradients and the value of the loss, read once;
- expert: and every step the statistics of each gradient, weight, update and activation, by the kernels of
  ``torchmagic.tensors``, with nothing kept, named, judged or shown.

What lies between a floor and ``benchmarks/overhead.py`` is what torchmagic itself takes. A minute or two for each
workload:

    OMP_NUM_THREADS=1 python benchmarks/floor.py --only "tiny MLP"
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from blocks import Times, block, cpu, in_turns, median, wall, with_interval
from watched import LEVELS, Watches, away_from_home, watched
from workloads import WORKLOADS, Training, Workload

import torchmagic
from torchmagic.tensors.alike import Glances
from torchmagic.tensors.changes import Copy
from torchmagic.tensors.moments import moments_of
from torchmagic.tensors.reduce import packs_well, quick_total

WAYS = ("calls", "basic", "expert")
HEARD = (
    (torch.nn.Module, "__call__"),
    (torch.nn.functional, "cross_entropy"),
    (torch.autograd, "backward"),
    (torch.optim.Optimizer, "zero_grad"),
)
UNCOUNTED_STEPS, COUNTED_STEPS = 300, 128


class Floor:
    """One way to know something of a training, put around it for a while.

    Args:
        training: The training.
        way: One of ``WAYS``.
    """

    def __init__(self, training: Training, way: str) -> None:
        self._parameters = [each for each in training.model.parameters() if each.requires_grad]
        self._optimizer, self._way = training.optimizer, way
        self._loss: torch.Tensor | None = None
        self._outputs = Glances()
        self._before: Copy | None = None

    @contextmanager
    def on(self) -> Iterator[None]:
        """Listen for as long as the block goes on."""
        with ExitStack() as stack:
            for owner, name in HEARD:
                stack.enter_context(patch.object(owner, name, self._heard(getattr(owner, name), name)))
            if self._way != "calls":
                for handle in (
                    self._optimizer.register_step_pre_hook(self._stepping),
                    self._optimizer.register_step_post_hook(self._stepped),
                ):
                    stack.callback(handle.remove)
            yield

    def _heard(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        if self._way == "calls" or name in ("zero_grad", "backward") or (self._way, name) == ("basic", "__call__"):

            def only(*args: Any, **kwargs: Any) -> Any:
                return original(*args, **kwargs)

            return only

        def seen(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if name == "cross_entropy":
                self._loss = result
            elif isinstance(result, torch.Tensor) and not args[0]._modules:
                self._outputs.take(result.detach(), [])
            return result

        return seen

    def _stepping(self, *_: Any) -> None:
        gradients = [each.grad for each in self._parameters if each.grad is not None]
        if self._loss is not None:
            self._loss.item()
        if self._way == "basic":
            quick_total(gradients, pack=packs_well(gradients))
            return
        moments_of([*gradients, *self._parameters])
        self._outputs.finish()
        self._before = Copy([each.detach() for each in self._parameters])

    def _stepped(self, *_: Any) -> None:
        if self._before is not None:
            self._before.compare(self._parameters, [each.grad for each in self._parameters])


def calls_a_step(training: Training, around: Callable[[], Any]) -> tuple[float, float]:
    """Return how many Python functions, and functions of torch and Python written in C, a step calls more than bare."""
    counts: list[Counter[str]] = []
    for enter in (ExitStack, around):
        count: Counter[str] = Counter()
        with enter():
            block(training, UNCOUNTED_STEPS)
            sys.setprofile(lambda frame, event, value, count=count: count.update((event,)))
            block(training, COUNTED_STEPS)
            sys.setprofile(None)
        counts.append(count)
    bare, more = counts
    python, c = ((more[event] - bare[event]) / COUNTED_STEPS for event in ("call", "c_call"))
    return python, c


def measure(workload: Workload, rounds: int) -> Iterator[str]:
    """Yield the lines of one workload."""
    training = workload.make()
    num_steps = workload.num_steps
    levels = ("basic", "expert")

    def timed(way: str) -> Times:
        with Floor(training, way).on():
            return block(training, num_steps)

    ways = {f"floor: {way}": (lambda way=way: timed(way)) for way in WAYS}
    ways |= {
        f"watch: {level}": (lambda level=level: watched(training, num_steps, level, Watches())) for level in levels
    }
    measured = in_turns(training, num_steps, ways, rounds=rounds)
    around = {f"floor: {way}": Floor(training, way).on for way in WAYS}
    around |= {f"watch: {level}": (lambda level=level: torchmagic.watch(**LEVELS[level])) for level in levels}
    name, bare = workload.name, f"{1e6 * median(wall(measured.bare)):,.0f}"
    for way in ways:
        if way in measured.failed:
            yield f"{name:16} {bare:>8}  {way:15}  {measured.failed[way]}"
            continue
        ratios = cpu(measured.ratios[way])
        more = 1e6 * (median(ratios) - 1) * median([each.cpu for each in measured.bare])
        python, c = calls_a_step(training, around[way])
        yield f"{name:16} {bare:>8}  {way:15}  {with_interval(ratios)}  {more:7.0f}  {python:7.0f}  {c:7.0f}"
        name = bare = ""


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description="The floor under the cost of watching.")
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, 1 thread, median of {chosen.rounds} rounds, in turns in one process")
    print(f"{'':16} {'bare':>8}  {'':15}  {'ratio of CPU time':^19}  {'more':>7}  {'calls more a step':>16}")
    print(f"{'workload':16} {'us/step':>8}  {'':15}  {'':6} {'(90%)':>12}  {'us/step':>7}  {'Python':>7}  {'C':>7}")
    with away_from_home():
        for workload in WORKLOADS:
            if not workload.compiled and chosen.only in workload.name:
                for line in measure(workload, chosen.rounds):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
