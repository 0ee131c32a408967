"""This file runs the example scripts of the rules as cells are run: earlier cells plain, the last one watched.

What stands above ``# --- cell ---`` is earlier cells; without that line all is the cell. ``# runs: 2`` runs the cell
twice in one session, as a person does who runs it again.
"""

import contextlib
import io
import re
import sys

import torch

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.session.session import Session

CUT = "# --- cell ---\n"


def watched(source, filename="<script>"):
    """Return the last run of a script, and the exception that ended it, if one did."""
    namespace, session = {"__name__": "__main__"}, Session()
    before, cut, after = source.rpartition(CUT)
    cell = "\n" * (before + cut).count("\n") + after  # the lines keep their numbers
    times = re.search(r"^# runs: (\d+)$", source, re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()), fresh_modes():
        exec(compile(before, filename, "exec"), namespace)  # noqa: S102 - the scripts are ours
        for _ in range(int(times[1]) if times else 1):
            run, error = _watched_once(cell, filename, namespace, session)
    return run, error


def _watched_once(cell, filename, namespace, session):
    watching = Watch(Settings(save=False, every=1), namespace=namespace, source=cell, session=session)
    code = compile(cell, filename, "exec")
    run, error = watching.start(), None
    try:
        exec(code, namespace)  # noqa: S102 - the scripts are ours
    except Exception as raised:  # noqa: BLE001 - some bugs end in an exception
        error = raised
    watching.stop(error)
    return run, error


@contextlib.contextmanager
def fresh_modes():
    """Set torch's global modes back, and forget the last error, whatever a script does to them."""
    try:
        yield
    finally:
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)
        for name in ("last_exc", "last_value", "last_traceback"):
            vars(sys).pop(name, None)
