"""This file tests the rule on workers that draw the same numbers, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.duplicated_worker_seed import duplicated_worker_seed
from torchmagic.session.run import Run

MADE = Place(file="<cell>", line=9, source="train = DataLoader(data)")
SOURCE = """class Data:
    def __init__(self):
        self.rng = np.random.default_rng(0)
def start(worker):
    torch.set_num_threads(1)
    random.seed(5)
"""


def found(*, source=SOURCE, workers=2, **settings):
    run = Run(source=source)
    run.records.append(
        LoaderRecord(name="train", batch_size=8, num_workers=workers, sampler="S", num_batches=4, made=MADE, **settings)
    )
    return [(each.severity, each.line) for each in duplicated_worker_seed(run)]


def test_a_generator_that_is_copied_is_told_where_it_is_made():
    assert found(random_read=("rng",)) == [(Severity.WARNING, 3)]
    assert found(random_read=("dataset.rng",)) == [(Severity.WARNING, 3)]


def test_a_constant_seed_is_told_where_it_is_set():
    assert found(worker_init="start", worker_init_constant=True) == [(Severity.WARNING, 6)]


def test_code_of_another_cell_is_told_where_the_loader_is_made():
    assert found(source="", random_read=("rng",)) == [(Severity.WARNING, 9)]
    assert found(source="", worker_init="start", worker_init_constant=True) == [(Severity.WARNING, 9)]


@pytest.mark.parametrize("workers", [0, 1])
def test_fewer_than_two_workers_are_silent(workers):
    assert found(workers=workers, random_read=("rng",)) == []


def test_a_generator_that_no_worker_reads_and_one_that_workers_may_seed_are_silent():
    assert found(random_read=()) == []
    assert found(random_read=("rng",), worker_init="start") == []
