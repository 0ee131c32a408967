"""This file tests the rule on loaders without a batch, on records written by hand."""

import pytest

from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.empty_loader import REFUSED, empty_loader
from torchmagic.session.run import Run

MADE = Place(file="<cell>", line=2, source="train = DataLoader(data)")


def found(*, empty=1, batches=0, samples=5, drop_last=True):
    run = Run()
    run.records += [
        LoaderRecord(
            name="train",
            batch_size=8,
            num_workers=0,
            sampler="S",
            num_batches=0,
            num_samples=samples,
            drop_last=drop_last,
            made=MADE,
        ),
        LoaderUseRecord(
            loader="train",
            num_passes=1,
            num_batches=batches,
            num_single=0,
            num_empty=empty,
            num_trained=0,
            place=None,
        ),
    ]
    return list(empty_loader(run))


@pytest.mark.parametrize(
    ("samples", "drop_last", "why"),
    [(5, True, "drop_last"), (0, False, "no samples"), (None, False, "Neither")],
)
def test_a_pass_without_a_batch_is_an_error_where_the_loader_is_made(samples, drop_last, why):
    (finding,) = found(samples=samples, drop_last=drop_last)
    assert (finding.severity, finding.line) == (Severity.ERROR, 2)
    assert why in finding.why


def test_a_loader_that_gave_a_batch_at_another_time_is_silent():
    assert found(batches=3) == []


def test_a_pass_that_was_left_before_its_first_batch_is_silent():
    assert found(empty=0) == []


def test_what_torch_refuses_to_shuffle_is_told_at_the_line_that_raised():
    run = Run()
    run.records.append(CrashRecord(error="ValueError", message=REFUSED, file="<cell>", line=7, source="DataLoader(d)"))
    (finding,) = empty_loader(run)
    assert (finding.line, finding.source) == (7, "DataLoader(d)")


def test_another_error_is_silent():
    run = Run()
    run.records.append(CrashRecord(error="ValueError", message="no", file="<cell>", line=7, source="f(d)"))
    assert list(empty_loader(run)) == []


def test_a_loader_that_nobody_went_through_is_silent():
    run = Run()
    run.records.append(LoaderRecord(name="train", batch_size=8, num_workers=0, sampler="S", num_batches=0))
    assert list(empty_loader(run)) == []


def test_what_drop_last_leaves_out_is_not_blamed_for_what_is_not_there():
    assert "no samples" in found(samples=0, drop_last=True)[0].why
    assert "Neither" in found(samples=5, drop_last=False)[0].why
    assert "Neither" in found(samples=None, drop_last=True)[0].why
