"""This file tests the rule on too many workers, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.rules.performance.worker_oversubscription import worker_oversubscription
from torchmagic.session.run import Run


def found(workers, cores):
    run = Run()
    run.records += [
        EnvironmentRecord(torch="2", python="3", platform="p", device="cpu", num_threads=1, num_cores=cores),
        LoaderRecord(name="train", batch_size=8, num_workers=workers, sampler="S", num_batches=4),
    ]
    return [each.severity for each in worker_oversubscription(run)]


@pytest.mark.parametrize(("workers", "told"), [(8, 0), (9, 1)])
def test_more_than_two_workers_a_core_are_told(workers, told):
    assert found(workers, 4) == [Severity.INFO] * told


def test_cores_that_are_not_known_are_silent():
    assert found(64, 0) == []
