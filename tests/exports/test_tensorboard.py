"""This file tests the event files by reading them with TensorBoard's own reader."""

import numpy as np
import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.names import folder_name, key
from torchmagic.exports.wall_times import wall_times
from torchmagic.records.snapshot import SnapshotRecord

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
ALL = dict.fromkeys(("scalars", "tensors", "histograms"), 0)  # 0 keeps all


def read(folder):
    found = accumulator.EventAccumulator(str(folder), size_guidance=ALL)
    found.Reload()
    return found


def floats(values):
    """Return values as an event file has them: in 32 bits."""
    return list(map(repr, np.asarray(list(values), dtype=np.float32).tolist()))


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory):
    return export(runs, tmp_path_factory.mktemp("tb") / "logs", to="tensorboard")


def test_each_run_has_a_folder_of_its_own(folder, runs):
    assert sorted(path.name for path in folder.iterdir()) == sorted(folder_name(run) for run in runs)
    assert [path.name.startswith("events.out.tfevents.") for path in folder.glob("*/*")] == [True, True]


def test_scalars_are_the_series_with_their_steps(folder, runs):
    for run in runs:
        found = read(folder / folder_name(run))
        for frame in run.frames:
            for subject in frame.subjects:
                steps, values = run.series(frame.metric, name=subject)
                events = found.Scalars(key(frame.metric, subject))
                assert [event.step for event in events] == steps
                assert floats(event.value for event in events) == floats(values)


def test_wall_times_lie_in_the_run_and_rise(folder, run):
    times = [event.wall_time for event in read(folder / folder_name(run)).Scalars("loss/loss")]
    assert times == sorted(times)
    assert run.clock.started <= times[0] < times[-1] <= run.clock.started + run.clock.seconds
    assert times == [pytest.approx(wall_times(run)(step)) for step in run.series("loss")[0]]


def test_histograms_are_the_snapshots(folder, run):
    found = read(folder / folder_name(run))
    records = [each for each in run.of(SnapshotRecord) if each.histogram is not None]
    assert records
    for record in records:
        events = found.Histograms(key(record.what.value, record.subject))
        value = next(event.histogram_value for event in events if event.step == record.step)
        assert tuple(value.bucket_limit) == record.histogram.edges
        assert tuple(value.bucket) == (0, *record.histogram.counts)
        assert value.num == sum(record.histogram.counts)


def test_findings_and_settings_are_there(folder, run):
    found = read(folder / folder_name(run))
    assert "Findings" in found.Tensors("findings")[0].tensor_proto.string_val[0].decode()
    plugin = found.SummaryMetadata("_hparams_/session_start_info").plugin_data
    data = pytest.importorskip("tensorboard.plugins.hparams.plugin_data_pb2").HParamsPluginData
    hparams = data.FromString(plugin.content).session_start_info.hparams
    assert hparams["lr"].number_value == 0.01
    assert hparams["optimizer"].string_value == "Adam"
    assert hparams["watch level"].string_value == "expert"


def test_the_same_run_written_again_replaces_its_file(run, tmp_path):
    for _ in range(2):
        export(run, tmp_path / "logs", to="tensorboard")
    (file,) = (tmp_path / "logs").rglob("*.torchmagic")
    assert len(read(file.parent).Scalars("loss/loss")) == 30


def test_runs_of_hostile_names_are_read(hostile, tmp_path):
    folder = export(hostile, tmp_path / "logs", to="tensorboard")
    events = read(next(folder.iterdir())).Scalars(key("loss", hostile.name))
    assert [repr(event.value) for event in events] == ["1.0", "nan", "inf", "-inf", "0.25"]
