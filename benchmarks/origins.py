"""Prints, for each planted origin of a non-finite value, what torchmagic says and what ``detect_anomaly`` says.

    python benchmarks/origins.py
    python benchmarks/origins.py --device cuda    all tensors on a device

A row holds the name of the origin, then for each of the two the operator named and whether operator and line are right.
``detect_anomaly`` speaks of backward nodes only; ``LogBackward0`` counts as right for ``log``.
"""

import argparse
import importlib.util
import io
import linecache
import re
import sys
import textwrap
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.session.session import Session

CASES = Path(__file__).parent.parent / "tests" / "probes" / "origin_cases.py"


def load_cases():
    spec = importlib.util.spec_from_file_location("origin_cases", CASES)
    module = sys.modules["origin_cases"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def execute(name, source):
    """Run a cell's source with lines that resolve; return what it raised, if anything."""
    file = f"<origin {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    sys.modules["__main__"] = SimpleNamespace(torch=torch, nn=nn, F=functional, __name__="__main__")
    names = {"__name__": "__main__", "torch": torch, "nn": nn, "F": functional}
    torch.manual_seed(0)
    try:
        exec(compile(source, file, "exec"), names)
    except Exception as error:
        return error
    return None


def ours(case_name, source):
    """Return torchmagic's records."""
    watching = Watch(Settings(save=False, level="basic"), source=source, session=Session())
    watching.start()
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        execute(case_name, source)
    watching.stop()
    return list(watching.run.of(NonfiniteRecord))


def theirs(case_name, source):
    """Return the node that detect_anomaly names and the innermost line of the cell in its traceback."""
    said = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, redirect_stderr(said), redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            error = execute(case_name, source)
    found = re.search(r"Function '(\w+)' returned nan", str(error))
    text = said.getvalue() + "".join(str(each.message) for each in caught)
    lines = re.findall(r'File "<origin [^"]*", line (\d+)', text)
    return (found[1] if found else None), (int(lines[-1]) if found and lines else None)


def is_right(op, line, case):
    """Return whether the operator, and whether the line, is the planted one."""
    names = {op, (op or "").partition("Backward")[0].lower()} if op else set()
    wanted = {each.strip("_").lower() for each in case.ops} | set(case.ops)
    return (not case.ops and op is None) or bool(names & wanted), line == case.line


def on(device):
    """Have all tensors made on a device; samplers of loaders draw on the host, as they do for everybody."""
    torch.set_default_device(device)
    drawn = torch.randperm

    def randperm(*args, generator=None, **kwargs):
        place = {} if generator is None else {"device": generator.device}
        return drawn(*args, generator=generator, **place, **kwargs)

    torch.randperm = randperm


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", help="where all tensors are made, such as cuda")
    device = parser.parse_args().device
    if device:
        on(device)
    cases = load_cases()
    scores = {"torchmagic": 0, "detect_anomaly": 0}
    print(f"{'origin':52} {'torchmagic':24} op line  {'detect_anomaly':28} op line")
    for case in cases.ORIGINS:
        record = next(iter(ours(case.name, case.source)), None)
        mine = (record.op, record.place.line if record.place else None) if record else (None, None)
        peer = theirs(case.name, case.source)
        cells = []
        for who, (op, line) in zip(scores, (mine, peer)):
            right = (False, False) if who == "detect_anomaly" and op is None else is_right(op, line, case)
            scores[who] += all(right)
            cells.append(
                f"{op or ('silent' if who == 'detect_anomaly' else '-')!s:24} "
                + "  ".join("yes" if each else "no " for each in right)
            )
        print(f"{case.name[:52]:52} {cells[0]}  {cells[1]}")
    print(
        f"\noperator and line right, of {len(cases.ORIGINS)}: " + ", ".join(f"{who} {n}" for who, n in scores.items())
    )
    print("\nharmless values: alarms")
    alarms = {"torchmagic": 0, "detect_anomaly": 0}
    for name, source in cases.HARMLESS.items():
        source = textwrap.dedent(source)
        mine, peer = bool(ours(name, source)), theirs(name, source)[0]
        alarms["torchmagic"] += mine
        alarms["detect_anomaly"] += peer is not None
        print(f"{name[:52]:52} {'alarm' if mine else 'silent':8} {peer or 'silent'}")
    print(f"\nalarms, of {len(cases.HARMLESS)}: " + ", ".join(f"{who} {n}" for who, n in alarms.items()))


if __name__ == "__main__":
    main()
