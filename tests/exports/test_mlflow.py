"""This file tests the MLflow store by reading it with MLflow's own client."""

import json
from pathlib import Path

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.names import key

pytestmark = pytest.mark.filterwarnings("ignore")
tracking = pytest.importorskip("mlflow.tracking", exc_type=ImportError)


def read(folder):
    client = tracking.MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("torchmagic")
    listed = client.search_runs([experiment.experiment_id])
    assert len(listed) == 3  # the one that was written twice is there once
    return client, {found.data.tags["torchmagic.id"]: found for found in listed}


@pytest.fixture(scope="module")
def folder(runs, named, tmp_path_factory):
    parent = tmp_path_factory.mktemp("parent")
    export(runs, parent / "store", to="mlflow")
    export([runs[0], named("../../x", run_id="a' or 1=1")], parent / "store", to="mlflow")
    assert list(parent.iterdir()) == [parent / "store"]
    return parent / "store"


def test_each_run_is_there_once_with_its_state(folder, runs):
    _, found = read(folder)
    assert set(found) == {runs[0].id, runs[1].id, "a__or_1_1"}
    written = found[runs[0].id]
    assert (written.info.run_name, written.info.status) == (runs[0].name, "FINISHED")
    assert written.info.start_time == round(1000 * runs[0].clock.started)
    assert found["a__or_1_1"].info.status == "FAILED"


def test_metrics_are_the_series(folder, run):
    client, found = read(folder)
    for frame in run.frames:
        for subject in frame.subjects:
            steps, values = run.series(frame.metric, name=subject)
            history = client.get_metric_history(found[run.id].info.run_id, key(frame.metric, subject))
            read_back = sorted((point.step, repr(point.value)) for point in history)
            expected = sorted(zip(steps, map(repr, values), strict=True))
            # Of points that agree in all, the moment too, the store keeps one.
            assert sorted(set(read_back)) == sorted(set(expected))


def test_parameters_and_results_are_listed(folder, run):
    written = read(folder)[1][run.id]
    assert written.data.params["optimizer"] == "Adam"
    assert float(written.data.params["lr"]) == 0.01
    assert written.data.params["watch level"] == "expert"
    assert written.data.metrics["result/steps"] == 30


def test_the_page_and_the_document_are_artifacts(folder, run):
    client, found = read(folder)
    names = {each.path for each in client.list_artifacts(found[run.id].info.run_id)}
    assert names == {"report.html", "run.json"}
    stored = Path(found[run.id].info.artifact_uri.removeprefix("file://"))
    assert stored.is_relative_to(folder)
    assert json.loads((stored / "run.json").read_text()) == json.loads(run.to_json())
