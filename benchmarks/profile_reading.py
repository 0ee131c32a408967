"""This file is what reading a profile costs: seconds and memory for as many events as a long profile has.

A small model is trained under torch's profiler until so many events are noted down, with ranges around modules and
lines as a profile has them. Then they are read as a profile reads them. The memory shown is the most that reading took
above what the process held before, where torch's own copy of the events is already among what it held. What torch takes
to list them for the first time, which is more than it takes later, is shown by itself.
"""

import argparse
import gc
import resource
import time
from pathlib import Path

import torch
from torch import nn

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, ModuleSite
from torchmagic.profiling.kineto import Kineto
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.records.place import Place

RANGE = torch._C._profiler._RecordFunctionFast
# Operators, ranges and nodes that a step of the model below makes; found by running it.
EVENTS_A_STEP = 675


def model_with_ranges() -> tuple[nn.Module, list[ModuleSite]]:
    """Return a model whose modules put ranges around themselves."""
    model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU())])
    sites = []
    for index, (path, module) in enumerate(model.named_modules()):
        sites.append(ModuleSite("net", path, type(module).__name__))
        module.forward = ranged(module.forward, f"tm:m:{index}")
    return model, sites


def ranged(function, name):
    entered = RANGE(name)

    def call(*args):
        with entered:
            return function(*args)

    return call


def train(model: nn.Module, steps: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rows, lines = torch.randn(4, 16), [RANGE(f"tm:l:{number}") for number in range(4)]
    for number in range(steps):
        with lines[0]:
            loss = model(rows).square().mean()
        with lines[1], RANGE("tm:p:backward"):
            loss.backward()
        with lines[2]:
            optimizer.step()
        with lines[3]:
            optimizer.zero_grad()
        with RANGE(f"tm:s:{number}"):
            pass


def recorded(events: int, settings: ProfileSettings) -> tuple[Kineto, list[ModuleSite]]:
    """Return a recording of about so many events."""
    model, sites = model_with_ranges()
    train(model, 3)
    kineto = Kineto(settings)
    kineto.start()
    train(model, max(1, events // EVENTS_A_STEP))
    kineto.stop()
    return kineto, sites


def collected(kineto: Kineto, sites: list[ModuleSite], settings: ProfileSettings) -> Collected:
    """Return what a recording of the above collected."""
    marks = kineto.marks()
    begin, end = marks[0].start, marks[-1].end
    return Collected(
        events=kineto.events(begin, end),
        begin=begin,
        end=end,
        step_ends=[mark.end for mark in marks if mark.name.startswith("tm:s:")],
        thread=marks[0].thread,
        modules=sites,
        places=[Place(file="cell", line=number) for number in range(4)],
        options=settings.options,
    )


def list_first(kineto: Kineto) -> None:
    """Have torch list the events, and show what that took."""
    before, spent = resident(), time.process_time()
    listed = kineto.profile.profiler.kineto_results.events()
    spent = time.process_time() - spent
    print(f"{len(listed):,} events are listed by torch in {spent:.2f} s, in {resident() - before:,.0f} MB")


def resident() -> float:
    """Return the megabytes that the process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=float, default=1e6)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--shapes", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    settings = ProfileSettings(memory=chosen.memory, shapes=chosen.shapes)
    kineto, sites = recorded(int(chosen.events), settings)
    list_first(kineto)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before, began, spent = resident(), time.perf_counter(), time.process_time()
    records = attribute(collected(kineto, sites, settings))
    wall, spent = time.perf_counter() - began, time.process_time() - spent
    high = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    peak = int(high.split()[1]) / 1e3
    count = records[0].events
    print(f"{count:,} events are read in {wall:.2f} s ({spent:.2f} s of processor, {1e6 * wall / count:.2f} µs each)")
    print(f"  of them {records[0].reading:.2f} s where they are attributed, the reader of torch's events included")
    print(f"{before:,.0f} MB before, {peak:,.0f} MB at most: {peak - before:,.0f} MB for reading")


if __name__ == "__main__":
    main()
