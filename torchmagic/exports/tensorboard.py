"""This file exports to TensorBoard: an event file for each run, in a folder of its own under the one asked for."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from torchmagic.exports.destination import inside
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import folder_name, key
from torchmagic.exports.packages import needed
from torchmagic.exports.points import curves
from torchmagic.exports.summary import came_of, made_with
from torchmagic.exports.wall_times import wall_times
from torchmagic.records.snapshot import SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run
from torchmagic.session.status import Status
from torchmagic.session.whole_file import one_whole_file
from torchmagic.views.findings import findings_page
from torchmagic.views.skins.markdown import as_markdown

_EXTRA = "tensorboard"
# TensorBoard's own version of the format: later steps do not erase earlier ones with greater numbers.
_VERSION = "brain.Event:2"


def write(runs: Sequence[Run], folder: Path) -> None:
    """Write ``<run>/events.out.tfevents.<start>.torchmagic``; the same run written again replaces its file.

    Scalars have their optimizer step and wall time, under ``metric`` or ``metric/subject``; snapshots are histograms,
    findings a text, settings and hyperparameters the hparams.
    """
    writer = needed("tensorboard.summary.writer.record_writer", extra=_EXTRA)
    for run in runs:
        own = inside(folder, folder_name(run))
        own.mkdir(exist_ok=True)
        target = inside(own, f"events.out.tfevents.{int(run.clock.started)}.torchmagic")
        with one_whole_file(target) as draft, draft.open("wb") as file:
            events = writer.RecordWriter(file)
            for event in _events(run):
                events.write(event.SerializeToString())


def _events(run: Run) -> Iterator[Any]:
    make = needed("tensorboard.compat.proto.event_pb2", extra=_EXTRA).Event
    summary = needed("tensorboard.compat.proto.summary_pb2", extra=_EXTRA).Summary
    at = wall_times(run)
    yield make(wall_time=run.clock.started, file_version=_VERSION)
    for value in _start(run, summary):
        yield make(wall_time=run.clock.started, step=0, summary=summary(value=[value]))
    for curve in curves(run):
        tag = key(curve.metric, curve.subject)
        for step, number in zip(curve.steps, curve.values, strict=True):
            value = summary.Value(tag=tag, simple_value=number)
            yield make(wall_time=at(step), step=step, summary=summary(value=[value]))
    for record in run.of(SnapshotRecord):
        if record.histogram is not None:
            value = summary.Value(tag=key(record.what.value, record.subject), histo=_histogram(record.histogram))
            yield make(wall_time=at(record.step), step=record.step, summary=summary(value=[value]))
    ended = run.clock.started + run.clock.seconds
    for value in _end(run, summary):
        yield make(wall_time=ended, step=run.steps, summary=summary(value=[value]))


def _start(run: Run, summary: Any) -> Iterator[Any]:
    data = needed("tensorboard.plugins.hparams.plugin_data_pb2", extra=_EXTRA)
    info = data.SessionStartInfo(start_time_secs=run.clock.started)
    for name, value in made_with(run).items():
        where = info.hparams[key(name)]
        if isinstance(value, bool):
            where.bool_value = value
        elif isinstance(value, str):
            where.string_value = value
        else:
            where.number_value = value
    yield _hparams(summary, "session_start_info", data.HParamsPluginData(session_start_info=info))
    yield _text(summary, "findings", as_markdown(findings_page(run)))
    if run.source:
        # four spaces in front make a block of code that nothing inside can end
        yield _text(summary, "source", "\n".join(f"    {line}" for line in run.source.splitlines()))


def _end(run: Run, summary: Any) -> Iterator[Any]:
    data = needed("tensorboard.plugins.hparams.plugin_data_pb2", extra=_EXTRA)
    states = needed("tensorboard.plugins.hparams.api_pb2", extra=_EXTRA)
    for name, number in came_of(run).items():
        yield summary.Value(tag=key("result", name), simple_value=number)
    if run.status is not Status.RUNNING:
        state = states.STATUS_SUCCESS if run.status is Status.OK else states.STATUS_FAILURE
        info = data.SessionEndInfo(status=state, end_time_secs=run.clock.started + run.clock.seconds)
        yield _hparams(summary, "session_end_info", data.HParamsPluginData(session_end_info=info))


def _hparams(summary: Any, what: str, content: Any) -> Any:
    known = needed("tensorboard.plugins.hparams.metadata", extra=_EXTRA)
    content.version = known.PLUGIN_DATA_VERSION
    value = summary.Value(tag=f"_hparams_/{what}", tensor=known.NULL_TENSOR)
    value.metadata.plugin_data.plugin_name = known.PLUGIN_NAME
    value.metadata.plugin_data.content = content.SerializeToString()
    return value


def _text(summary: Any, tag: str, text: str) -> Any:
    types = needed("tensorboard.compat.proto.types_pb2", extra=_EXTRA)
    value = summary.Value(tag=tag)
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = types.DT_STRING
    value.tensor.tensor_shape.dim.add().size = 1
    value.tensor.string_val.append(text.encode("utf-8", "backslashreplace"))
    return value


def _histogram(histogram: Histogram) -> Any:
    """Return TensorBoard's histogram: it has no left edge, so an empty bucket ends where ours begin."""
    make = needed("tensorboard.compat.proto.summary_pb2", extra=_EXTRA).HistogramProto
    edges, counts = histogram.edges, histogram.counts
    middles = [(left + right) / 2 for left, right in pairwise(edges)]
    return make(
        min=edges[0],
        max=edges[-1],
        num=sum(counts),
        sum=sum(middle * count for middle, count in zip(middles, counts, strict=True)),
        sum_squares=sum(middle**2 * count for middle, count in zip(middles, counts, strict=True)),
        bucket_limit=edges,
        bucket=(0, *counts),
    )


EXPORTER = Exporter(name="tensorboard", what="event files for TensorBoard", write=write)
