"""This file tests the short form of records in the store."""

import dataclasses
import json

import pytest
import torch

from torchmagic.probes.snapshots import snapshots
from torchmagic.records.codec import decode, encode
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run
from torchmagic.session.slim import slim, whole
from torchmagic.session.store import Store


def taken(values):
    return next(snapshots([(SnapshotKind.GRADIENT, "net.weight", values)], 3))


def through_the_short_form(record):
    return decode(whole(json.loads(json.dumps(slim(record)))))


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 3e30])
@pytest.mark.parametrize("length", [2, 5, 100, 3000])
def test_what_was_taken_comes_back_to_the_bit(length, scale):
    record = taken(torch.randn(length, generator=torch.Generator().manual_seed(length)) * scale)
    assert len(record.histogram.counts) >= 4
    assert through_the_short_form(record) == record


def test_it_is_short():
    record = taken(torch.linspace(-1, 3, 4096))
    assert len(slim(record)["histogram"]["edges"]) == 2
    assert len(json.dumps(slim(record))) < 0.7 * len(json.dumps(encode(record)))


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


def test_the_store_gives_back_what_it_was_given(tmp_path):
    run = Run()
    run.records.extend([taken(torch.arange(9.0)), taken(torch.tensor([1.0, 1.0]))])
    store = Store(tmp_path / "runs.db")
    store.write(run)
    store.close()
    found = Store(tmp_path / "runs.db").read(run.id)
    assert found.of(SnapshotRecord) == run.of(SnapshotRecord)
