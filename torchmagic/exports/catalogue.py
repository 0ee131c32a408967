"""This file is the list of ways out, and the door to them."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from torchmagic.exports.comprehensive import EXPORTER as COMPREHENSIVE
from torchmagic.exports.csv_rows import EXPORTER as CSV
from torchmagic.exports.destination import fill_folder, replace_file
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.html_document import EXPORTER as HTML
from torchmagic.exports.json_document import EXPORTER as JSON
from torchmagic.exports.junit import EXPORTER as JUNIT
from torchmagic.exports.markdown import EXPORTER as MARKDOWN
from torchmagic.exports.mlflow import EXPORTER as MLFLOW
from torchmagic.exports.parquet import EXPORTER as PARQUET
from torchmagic.exports.sarif import EXPORTER as SARIF
from torchmagic.exports.tensorboard import EXPORTER as TENSORBOARD
from torchmagic.exports.text import EXPORTER as TEXT
from torchmagic.exports.trackio import EXPORTER as TRACKIO
from torchmagic.exports.wandb import EXPORTER as WANDB
from torchmagic.session.run import Run

EXPORTERS: tuple[Exporter, ...] = (
    HTML,
    MARKDOWN,
    TEXT,
    JSON,
    CSV,
    PARQUET,
    TENSORBOARD,
    MLFLOW,
    WANDB,
    TRACKIO,
    COMPREHENSIVE,
    SARIF,
    JUNIT,
)


def export(runs: Run | Sequence[Run], path: str | Path, *, to: str = "") -> Path:
    """Write runs to a file, or into a folder that a tracker reads.

    A file that is there is replaced once the new one is whole. The folder around it has to exist. Nothing is written
    outside the path, whatever runs are called, and nothing is sent anywhere.

    Args:
        runs: One run, or several.
        path: Where to; its suffix says what is made unless ``to`` does. ``~`` is the home folder.
        to: Name of an exporter of ``EXPORTERS``; empty goes by the suffix.

    Returns:
        The path that was written.

    Raises:
        ValueError: If there is no run, the suffix or name is unknown, or a package is not installed.
        OSError: If it cannot be written.
    """
    listed = [runs] if isinstance(runs, Run) else list(runs)
    if not listed:
        raise ValueError("there is no run to export; train something under torchmagic first")
    target = Path(path).expanduser()
    exporter = exporter_for(target, to)
    return (fill_folder if exporter.makes_folder else replace_file)(exporter, listed, target)


def exporter_for(path: Path, to: str = "") -> Exporter:
    """Return the exporter that a name or a suffix asks for.

    Raises:
        ValueError: If there is none.
    """
    by_name = {exporter.name: exporter for exporter in EXPORTERS}
    by_suffix = {suffix: exporter for exporter in EXPORTERS for suffix in exporter.suffixes}
    if to:
        found = by_name.get(to.lower()) or by_suffix.get(f".{to.lower().lstrip('.')}")
        if found is None:
            raise ValueError(f"there is no exporter {to!r}{_nearest(to.lower(), by_name)}; known: {', '.join(by_name)}")
        return found
    suffix = path.suffix.lower()
    if suffix not in by_suffix:
        came = f"nothing is exported to {suffix!r} files{_nearest(suffix, by_suffix)}"
        folders = ", ".join(exporter.name for exporter in EXPORTERS if exporter.makes_folder)
        known = f"known: {', '.join(by_suffix)}, or by name, into a folder: {folders}"
        raise ValueError(f"{came if suffix else f'{path} has no suffix'}; {known}")
    return by_suffix[suffix]


def _nearest(word: str, known: dict[str, Exporter]) -> str:
    near = get_close_matches(word, known, n=1)
    return f", the nearest is {near[0]!r}" if near else ""
