"""This file is the planted origins of non-finite values with all tensors on the simulated device, told as JSON.

python origins.py LIBRARY
"""

import faulthandler
import json
import sys
from pathlib import Path

import sim

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import origins as bench

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session


def told(name, source):
    """Return what is told of a cell; the device knows few operators, and some cells raise."""
    watching = Watch(Settings(save=False, level="basic"), source=source, session=Session())
    watching.start()
    raised = bench.execute(name, source)
    watching.stop()
    found = next(iter(watching.run.of(NonfiniteRecord)), None)
    return {
        "raised": str(raised or ""),
        "failures": [each.error for each in watching.run.of(FailureRecord)],
        "found": found is not None,
        "op": found.op if found is not None else None,
        "line": found.place.line if found is not None and found.place is not None else None,
    }


def main():
    """Give torch the device, and print all that is told."""
    faulthandler.enable()
    sim.give_torch(sys.argv[1])
    bench.on("sim")
    cases = bench.load_cases()
    harmful = {
        each.name: {**told(each.name, each.source), "ops": each.ops, "wanted": each.line} for each in cases.ORIGINS
    }
    harmless = {name: told(name, source) for name, source in cases.HARMLESS.items()}
    sys.stdout.write("\n" + json.dumps({"harmful": harmful, "harmless": harmless}) + "\n")


if __name__ == "__main__":
    main()
