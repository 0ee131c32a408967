"""This file writes the trace: what torch's own exporter writes, with our ranges under names that a person can read."""

import gzip
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch.profiler import tensorboard_trace_handler

from torchmagic.profiling.collected import BATCH, LINE, MODULE, PHASE, STEP, Collected
from torchmagic.profiling.recording import BEGIN, EDGES
from torchmagic.profiling.settings import ProfileSettings

CHUNK = 1 << 24
LEVEL = 5  # of compression; beyond it the file hardly shrinks
_OURS = re.compile(rb'"(tm:[a-z]:)(\w*)"')


def write_traces(
    profile: Any, settings: ProfileSettings, collected: Collected, *, warn: Callable[[str], None]
) -> tuple[str, list[str]]:
    """Write the Chrome trace and the TensorBoard folder that were asked for.

    Args:
        profile: Torch's profiler, stopped; it writes once only.
        settings: Where to write.
        collected: Tells the names of modules, lines and loaders.
        warn: Is told what could not be written: who shows no profile would not learn of it.

    Returns:
        The path of the Chrome trace, empty where there is none, and one sentence for each that could not be written.
    """
    if not (settings.trace or settings.tensorboard):
        return "", []
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="torchmagic_") as folder:
        plain, named = Path(folder) / "plain.json", Path(folder) / "trace.json"
        done = _tried(folder, said, lambda: _write(profile, plain, named, collected))
        trace = str(Path(settings.trace).expanduser()) if done and settings.trace else ""
        if trace and not _tried(trace, said, lambda: _into_its_folder(named, Path(trace))):
            trace = ""
        if done and settings.tensorboard:
            place = str(Path(settings.tensorboard).expanduser())
            handler = tensorboard_trace_handler(place)
            _tried(place, said, lambda: handler(_Written(named)))
    for each in said:
        warn(f"torchmagic: {each}")
    return trace, said


class _Written:
    """Stands for the profiler where torch's handler names the file and asks it to write."""

    def __init__(self, source: Path) -> None:
        self._source = source

    def export_chrome_trace(self, path: str, **_: Any) -> None:
        """Write what was written before to a path."""
        _copy(self._source, Path(path))


def _tried(path: str, said: list[str], deed: Callable[[], object]) -> bool:
    try:
        deed()
    except (OSError, RuntimeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        said.append(f"The trace could not be written to {path}: {reason}. Name another place.")
        return False
    return True


def _write(profile: Any, plain: Path, named: Path, collected: Collected) -> None:
    """Have torch write its trace, and replace the names of our ranges."""
    profile.export_chrome_trace(str(plain))

    def readable(match: re.Match[bytes]) -> bytes:
        return json.dumps(_readable(match[1].decode(), match[2].decode(), collected)).encode()

    with plain.open("rb") as source, named.open("wb") as target:
        while chunk := source.read(CHUNK):
            target.write(_OURS.sub(readable, chunk + source.readline()))


def _readable(prefix: str, rest: str, collected: Collected) -> str:
    """Return what to call one of our ranges."""
    said = prefix + rest
    if prefix == PHASE:
        said = rest
    elif prefix == STEP:
        said = f"end of step {rest}"
    elif prefix == MODULE:
        site = collected.modules[int(rest)]
        said = f"{'.'.join(filter(None, (site.model, site.path)))} ({site.class_name})"
    elif prefix == LINE:
        place = collected.places[int(rest)]
        said = f"line {place.line}: {place.source}"
    elif prefix == BATCH:
        said = f"batch of {collected.loaders[int(rest)].name}"
    elif prefix in EDGES:
        said = f"part {int(rest) + 1} {'begins' if prefix == BEGIN else 'ends'}"
    return said


def _into_its_folder(source: Path, target: Path) -> None:
    folder = target.resolve().parent
    if not folder.is_dir():  # a typing error makes no tree of folders
        raise FileNotFoundError(f"there is no folder {folder}")
    _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as content, target.open("wb") as file:
        if target.suffix == ".gz":
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=LEVEL) as packed:
                shutil.copyfileobj(content, packed, CHUNK)
        else:
            shutil.copyfileobj(content, file, CHUNK)
