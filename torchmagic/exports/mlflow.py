"""This file exports to MLflow: a SQLite store ``mlflow.db`` and a folder ``artifacts``, for ``mlflow ui`` to read."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from torchmagic.exports.apart import fill_apart, serve
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.html_document import document
from torchmagic.exports.names import encodable, key, label
from torchmagic.exports.packages import needed
from torchmagic.exports.points import curves
from torchmagic.exports.summary import came_of, made_with
from torchmagic.exports.wall_times import wall_times
from torchmagic.session.run import Run
from torchmagic.session.status import Status

EXPERIMENT = "torchmagic"
# What MLflow takes at once, and how long a value may be.
_MOST_METRICS, _LONGEST = 1000, 500
_ENDED = {Status.OK: "FINISHED", Status.RUNNING: "RUNNING", Status.INTERRUPTED: "KILLED"}


def write(runs: Sequence[Run], folder: Path) -> None:
    """Write each run as a run of the experiment ``torchmagic``; one that was exported before is replaced."""
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_LOGGING_LEVEL": "ERROR"}
    fill_apart(__name__, runs, folder, package="mlflow", extra="mlflow", environment=quiet)


def fill(runs: Sequence[Run], folder: Path) -> None:
    """Write the runs with MLflow's client, in a process apart."""
    tracking, entities = needed("mlflow.tracking", extra="mlflow"), needed("mlflow.entities", extra="mlflow")
    client = tracking.MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name(EXPERIMENT)
    where = (folder / "artifacts").as_uri()
    number = experiment.experiment_id if experiment else client.create_experiment(EXPERIMENT, artifact_location=where)
    for run in runs:
        for old in client.search_runs([number], f"tags.`torchmagic.id` = '{_quoted(run.id)}'"):
            client.delete_run(old.info.run_id)
        _write(client, entities, number, run)


def _write(client: Any, entities: Any, experiment: str, run: Run) -> None:
    began, ended = (round(1000 * when) for when in (run.clock.started, run.clock.started + run.clock.seconds))
    tags = {"torchmagic.id": _quoted(run.id), "torchmagic.status": run.status.value}
    made = client.create_run(experiment, start_time=began, tags=tags, run_name=encodable(label(run))[:_LONGEST])
    known = made.info.run_id
    params = [entities.Param(key(name), str(value)[:_LONGEST]) for name, value in made_with(run).items()]
    client.log_batch(known, params=params)
    metrics = _metrics(entities, run)
    while batch := list(islice(metrics, _MOST_METRICS)):
        client.log_batch(known, metrics=batch)
    client.log_text(known, document([run]), "report.html")
    client.log_text(known, run.to_json(), "run.json")
    client.set_terminated(known, status=_ENDED.get(run.status, "FAILED"), end_time=ended)


def _metrics(entities: Any, run: Run) -> Iterator[Any]:
    at = wall_times(run)
    for curve in curves(run):
        name = key(curve.metric, curve.subject)
        for step, value in zip(curve.steps, curve.values, strict=True):
            yield entities.Metric(name, value, round(1000 * at(step)), step)
    for name, value in came_of(run).items():
        yield entities.Metric(key("result", name), value, round(1000 * at(run.steps)), run.steps)


def _quoted(text: str) -> str:
    """Return an id that cannot end the quotes of a search."""
    return "".join(char if char.isalnum() or char in "-_" else "_" for char in text)


EXPORTER = Exporter(name="mlflow", what="a store for MLflow", write=write)

if __name__ == "__main__":
    serve(fill)
