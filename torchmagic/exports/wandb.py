"""This file exports to Weights & Biases offline: run folders that ``wandb sync`` sends when, and if, the user asks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchmagic.exports.apart import fill_apart, serve
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import encodable, file_word, key, label
from torchmagic.exports.packages import needed
from torchmagic.exports.rows import rows
from torchmagic.exports.summary import came_of, made_with
from torchmagic.session.run import Run

PROJECT = "torchmagic"
_LONGEST = 120


def write(runs: Sequence[Run], folder: Path) -> None:
    """Write each run to ``wandb/offline-run-…`` in the folder."""
    caches = {f"WANDB_{name}_DIR": "{scratch}" for name in ("CONFIG", "CACHE", "DATA", "ARTIFACT")}
    quiet = {"WANDB_MODE": "offline", "WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true", **caches}
    fill_apart(__name__, runs, folder, package="wandb", extra="wandb", environment=quiet)


def fill(runs: Sequence[Run], folder: Path) -> None:
    """Write the runs with W&B's client, in a process apart."""
    wandb = needed("wandb", extra="wandb")
    for run in runs:
        _write(wandb, run, folder)


def _write(wandb: Any, run: Run, folder: Path) -> None:
    with wandb.init(
        mode="offline",
        project=PROJECT,
        dir=str(folder),
        id=file_word(run.id),
        name=encodable(label(run))[:_LONGEST],
        config=made_with(run),
        settings=_settings(wandb),
    ) as written:
        for step, values in rows(run):
            written.log(values, step=step)
        written.summary.update({key("result", name): value for name, value in came_of(run).items()})
        written.summary.update(
            {"status": run.status.value, "findings": [encodable(each.title) for each in run.findings]}
        )


def _settings(wandb: Any) -> Any:
    """Return settings under which nothing is collected but what is given."""
    return wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        disable_code=True,
        disable_job_creation=True,
        save_code=False,
        x_disable_stats=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_save_requirements=False,
    )


EXPORTER = Exporter(name="wandb", what="offline runs for Weights & Biases", write=write)

if __name__ == "__main__":
    serve(fill)
