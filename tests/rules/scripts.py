"""This file runs the example scripts of the rules as cells are run: earlier cells plain, the last one watched.

What stands above ``# --- cell ---`` is earlier cells; without that line all is the cell. ``# runs: 2`` runs the cell
twice in one session, as a person does who runs it again. ``# profile`` profiles it, as ``%%torchprofile`` does, and
``# profile: steps=8`` with these settings. ``# needs: amp`` says on which machines its rule can speak at all: see
``NEEDS``.
"""

import ast
import contextlib
import gc
import io
import re
import sys
from pathlib import Path

import torch

from torchmagic.api.profile import probes
from torchmagic.api.profile_request import ProfileRequest
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.profiling.hardware import hardware_of
from torchmagic.profiling.lines import Lines
from torchmagic.session.session import Session

CUT = "# --- cell ---\n"
NEEDS = {
    "cuda": torch.cuda.is_available,
    "amp": lambda: (hardware_of(torch.device("cpu")).half_speed or 0.0) > 1.6,
    "4 cores": lambda: hardware_of(torch.device("cpu")).cores >= 4,
}


def missing(source):
    """Return what this machine lacks for the rule of a script to speak; empty where it has it."""
    needs = re.search(r"^# needs: (.+)$", source, re.MULTILINE)
    return "" if needs is None or NEEDS[needs[1]]() else needs[1]


def watched(source, filename="<script>"):
    """Return the last run of a script, and the exception that ended it, if one did."""
    namespace, session = {"__name__": "__main__"}, Session()
    before, cut, after = source.rpartition(CUT)
    cell = "\n" * (before + cut).count("\n") + after  # the lines keep their numbers
    times = re.search(r"^# runs: (\d+)$", source, re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()), fresh_modes(), by_itself():
        exec(compile(before, filename, "exec"), namespace)  # noqa: S102 - the scripts are ours
        for _ in range(int(times[1]) if times else 1):
            run, error = _watched_once(cell, filename, namespace, session)
    if "torch.compile" in source:  # as long as compiled functions are there, no others are timed line by line
        torch._dynamo.reset()
        for name in [each for each in namespace if not each.startswith("__")]:  # torch removes its own
            del namespace[name]
        gc.collect()
    return run, error


@contextlib.contextmanager
def by_itself():
    """Hide what others have left: a model that was compiled keeps functions from being timed line by line."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _watched_once(cell, filename, namespace, session):
    settings, beside, lines = Settings(save=False, every=1), (), Lines()
    tree = ast.parse(cell, filename)
    if asked := re.search(r"^# profile(?:: (?P<settings>.+))?$", cell, re.MULTILINE):
        request = ProfileRequest.from_dict(_settings(asked["settings"]))
        namespace["__file__"] = filename  # whose functions are timed line by line
        settings, beside = request.watch, probes(request, namespace, lines=lines)
        tree = lines.transform(tree, filename)
    watching = Watch(settings, namespace=namespace, source=cell, session=session, beside=beside)
    code = compile(tree, filename, "exec")
    run, error = watching.start(), None
    try:
        exec(code, namespace)  # noqa: S102 - the scripts are ours
    except Exception as raised:  # noqa: BLE001 - some bugs end in an exception
        error = raised
    watching.stop(error)
    lines.forget()
    return run, error


def _settings(text):
    pairs = (each.split("=") for each in (text or "").split())
    return {"save": False, **{name: ast.literal_eval(value) for name, value in pairs}}


@contextlib.contextmanager
def fresh_modes():
    """Set torch's global modes back, and forget the last error, whatever a script does to them."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)
        for name in ("last_exc", "last_value", "last_traceback"):
            vars(sys).pop(name, None)


def told(run):
    """Yield what is known of a run, a line each: the first record of each class, its series, what the rules say."""
    for kind in dict.fromkeys(map(type, run.records)):
        first, *others = run.of(kind)
        yield f"record   {first}" + (f" and {len(others)} more" if others else "")
    for frame in run.frames:
        subject = frame.subjects[0]
        steps, values = frame.column(subject)
        yield (
            f"series   {frame.metric} of {', '.join(frame.subjects) or 'the run'}: {len(steps)} rows, "
            f"the last {values[-1]:g} at step {steps[-1]}"
        )
    yield from (f"finding  {each.rule}: {each.title} (line {each.line})" for each in run.findings)


if __name__ == "__main__":
    seen, error = watched(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[1])
    sys.stdout.write("\n".join([*told(seen), *([f"error    {error!r}"] if error else []), ""]))
