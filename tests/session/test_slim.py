"""This file tests the short form of records in the store."""

import dataclasses
import json
import math

import pytest
import torch

import torchmagic
from torchmagic.probes.snapshots import snapshots
from torchmagic.records.codec import decode, encode
from torchmagic.records.place import Place
from torchmagic.records.precision import SkippedStepRecord
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run
from torchmagic.session.slim import short, whole
from torchmagic.session.store import Store


def taken(values):
    return next(snapshots([(SnapshotKind.GRADIENT, "net.weight", values)], 3))


def through_the_short_form(record):
    return decode(whole(json.loads(short(record))))


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 3e30])
@pytest.mark.parametrize("length", [2, 5, 100, 3000])
def test_what_was_taken_comes_back_to_the_bit(length, scale):
    record = taken(torch.randn(length, generator=torch.Generator().manual_seed(length)) * scale)
    assert len(record.histogram.counts) >= 4
    assert through_the_short_form(record) == record


def test_samples_of_more_digits_come_back_to_the_bit():
    record = taken(torch.randn(50, dtype=torch.float64) * 1e-60)
    assert through_the_short_form(record) == record
    huge = dataclasses.replace(record, values=(1e300, 0.1))
    assert through_the_short_form(huge) == huge


def test_it_is_short():
    record = taken(torch.linspace(-1, 3, 4096))
    assert len(json.loads(short(record))["histogram"]["edges"]) == 2
    assert len(short(record)) < 0.7 * len(json.dumps(encode(record)))


@pytest.mark.parametrize(
    "histogram",
    [
        None,
        Histogram(edges=(0.0, 1.0), counts=(3,)),
        Histogram(edges=(), counts=()),
        Histogram(edges=(0.0, 1.0, 3.0), counts=(3, 4)),  # not even
        Histogram(edges=(1.0, 10.0, 100.0), counts=(3, 4), by_ratio=True),
        Histogram(edges=(0.0, 1.0, 2.0), counts=(3, 4), num_sampled=7),
    ],
)
def test_any_histogram_comes_back(histogram):
    record = dataclasses.replace(taken(torch.arange(9.0)), histogram=histogram)
    assert through_the_short_form(record) == record


@pytest.mark.parametrize(
    "record",
    [
        taken(torch.tensor([1.0, math.nan, 3.0, math.inf])),
        SkippedStepRecord(step=7, optimizer="optimizer", scale=math.inf, place=Place(file="cell", line=3)),
    ],
)
def test_numbers_that_are_not_finite_come_back(record):
    assert repr(through_the_short_form(record)) == repr(record)
    plain = json.loads(short(record), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert plain == encode(record)


def test_it_tells_what_the_codec_tells_of_every_record_of_a_run():
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(net.parameters())
    with torchmagic.watch(level="expert", save=False) as run:
        for _ in range(9):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 3, (16,))).backward()
            optimizer.step()
    assert len({type(record) for record in run.records}) >= 10
    for record in run.records:
        assert json.dumps(whole(json.loads(short(record)))) == json.dumps(encode(record))


def test_no_record_is_lost_for_a_value_that_json_does_not_know():
    with pytest.raises(TypeError):
        short(dataclasses.replace(taken(torch.arange(9.0)), subject=object()))


def test_the_store_gives_back_what_it_was_given(tmp_path):
    run = Run()
    run.records.extend([taken(torch.arange(9.0)), taken(torch.tensor([1.0, 1.0]))])
    store = Store(tmp_path / "runs.db")
    store.write(run)
    store.close()
    found = Store(tmp_path / "runs.db").read(run.id)
    assert found.of(SnapshotRecord) == run.of(SnapshotRecord)
