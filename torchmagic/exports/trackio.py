"""This file exports to trackio: a project ``torchmagic`` in a folder of its own, for ``trackio show`` to read."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from torchmagic.exports.apart import fill_apart, serve
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import folder_name, key
from torchmagic.exports.packages import needed
from torchmagic.exports.rows import rows
from torchmagic.exports.summary import came_of, made_with
from torchmagic.exports.wall_times import wall_times
from torchmagic.session.run import Run

PROJECT = "torchmagic"


def write(runs: Sequence[Run], folder: Path) -> None:
    """Write each run under its name and id; one that was exported before is replaced.

    ``TRACKIO_DIR=<folder> trackio show --project torchmagic`` shows them.
    """
    quiet = {"TRACKIO_DIR": str(folder.resolve())}
    fill_apart(__name__, runs, folder, package="trackio", extra="trackio", environment=quiet)


def fill(runs: Sequence[Run], _folder: Path) -> None:
    """Write the runs to trackio's store, in a process apart; it reads the folder from its environment."""
    # init() would start a dashboard and threads; the store itself is what trackio's own imports of files use
    store = needed("trackio.sqlite_storage", extra="trackio").SQLiteStorage
    for run in runs:
        _write(store, run)


def _write(store: Any, run: Run) -> None:
    name, at = folder_name(run), wall_times(run)
    if name in store.get_runs(PROJECT):
        store.delete_run(PROJECT, name)
    found = [*rows(run), (run.steps, {key("result", what): value for what, value in came_of(run).items()})]
    store.bulk_log(
        project=PROJECT,
        run=name,
        metrics_list=[values for _, values in found],
        steps=[step for step, _ in found],
        timestamps=[datetime.fromtimestamp(at(step), UTC).isoformat() for step, _ in found],
        config=made_with(run),
    )


EXPORTER = Exporter(name="trackio", what="a local project for trackio", write=write)

if __name__ == "__main__":
    serve(fill)
