"""This file is the work of a tracker's client in a process apart: its threads, settings and news stay out of ours.

The clients of trackers read settings from the environment when they are imported, keep threads, and tell their makers
about their use. In a process of its own none of this touches the notebook's, and the environment can forbid it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import torchmagic
from torchmagic.session.loading import from_json
from torchmagic.session.run import Run

# The user's own settings of a tracker may name a server.
_FOREIGN = ("MLFLOW_", "TRACKIO_", "WANDB_", "HF_", "OTEL_")
_OFFLINE = {"DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONWARNINGS": "ignore"}
_KNOWN = {"OSError": OSError, "ValueError": ValueError}


def fill_apart(
    module: str, runs: Sequence[Run], folder: Path, *, package: str, extra: str, environment: Mapping[str, str]
) -> None:
    """Run a file of this room as a program that calls ``serve``, and hand it runs and the folder.

    Args:
        module: Full name of the file.
        runs: What to write.
        folder: Where to; it exists.
        package: Package that must be installed.
        extra: Extra of torchmagic that installs it.
        environment: Variables for the program; ``{scratch}`` in a value is a folder that is removed afterwards.

    Raises:
        ValueError: If the package is not installed.
        OSError: If the program could not write.
    """
    if find_spec(package) is None:
        raise ValueError(f'this export needs the package {package}: pip install "torchmagic[{extra}]"')
    with tempfile.TemporaryDirectory(prefix="torchmagic-", ignore_cleanup_errors=True) as scratch:
        # -P: a folder of the tracker's name in the working directory is not its package
        ended = subprocess.run(  # noqa: S603 - our own file, by this very Python
            [sys.executable, "-P", "-m", module, str(folder.resolve())],
            input="\n".join(run.to_json() for run in runs),
            env=_environment(environment, scratch),
            cwd=scratch,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            check=False,
        )
    if ended.returncode:
        raise _error(ended.stderr, package)


def serve(fill: Callable[[Sequence[Run], Path], None]) -> None:
    """Be the program: read runs, fill the folder, and tell an error as the last line."""
    runs = [from_json(line) for line in sys.stdin if line.strip()]
    try:
        fill(runs, Path(sys.argv[1]))
    except Exception as error:  # noqa: BLE001 - whatever a client raises is told to the user in one line
        kind = next((name for name, known in _KNOWN.items() if isinstance(error, known)), "OSError")
        sys.stderr.write(f"\n{json.dumps([kind, f'{type(error).__name__}: {error}'])}\n")
        sys.exit(1)


def _environment(added: Mapping[str, str], scratch: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    home = str(Path(torchmagic.__path__[0]).parent)
    paths = os.pathsep.join(filter(None, (home, kept.get("PYTHONPATH", ""))))
    ours = {name: value.replace("{scratch}", scratch) for name, value in added.items()}
    return {**kept, **_OFFLINE, "HF_HOME": scratch, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8", **ours}


def _error(told: str, package: str) -> Exception:
    last = (told.strip().splitlines() or ["it said nothing"])[-1]
    try:
        kind, message = json.loads(last)
    except ValueError:
        kind, message = "OSError", last
    line = " ".join(str(message).split())
    return _KNOWN.get(kind, OSError)(f"{package} could not write the runs: {line}")
