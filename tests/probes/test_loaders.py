"""This file tests how data loaders are discovered."""

import pytest

from torchmagic.records.model import LoaderRecord

DATA = "data = torch.utils.data.TensorDataset(torch.randn(20, 3))\n"


def loaders(run):
    return [
        (record.name, record.batch_size, record.num_workers, record.sampler, record.num_batches)
        for record in run.of(LoaderRecord)
    ]


def test_a_loader_is_known_by_its_name_once_for_all_epochs(run_cell):
    run, _ = run_cell(
        DATA + "train = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)\n"
        "test = torch.utils.data.DataLoader(data, batch_size=20)\n"
        "for _ in range(3):\n    for x in train: pass\n    for x in test: pass"
    )
    assert loaders(run) == [("train", 8, 0, "RandomSampler", 3), ("test", 20, 0, "SequentialSampler", 1)]


def test_a_loader_without_a_name_is_called_by_its_class(run_cell):
    run, _ = run_cell(DATA + "for x in torch.utils.data.DataLoader(data, batch_size=5): pass")
    assert loaders(run) == [("DataLoader", 5, 0, "SequentialSampler", 4)]


def test_batches_given_as_a_list_are_known(run_cell):
    run, _ = run_cell(
        DATA + "loader = torch.utils.data.DataLoader(data, batch_sampler=[[0, 1], [2]])\nfor x in loader: pass"
    )
    assert loaders(run) == [("loader", None, 0, "list", 2)]


def test_an_endless_stream_has_no_length(run_cell):
    run, _ = run_cell(
        "class Stream(torch.utils.data.IterableDataset):\n"
        "    def __iter__(self): return iter(torch.randn(6, 2))\n"
        "loader = torch.utils.data.DataLoader(Stream(), batch_size=2)\nfor x in loader: pass"
    )
    ((name, _, _, _, length),) = loaders(run)
    assert (name, length) == ("loader", None)


@pytest.mark.parametrize("workers", [0, 1])
def test_workers_are_counted(run_cell, workers):
    run, _ = run_cell(
        DATA
        + f"loader = torch.utils.data.DataLoader(data, batch_size=10, num_workers={workers})\nfor x in loader: pass"
    )
    assert loaders(run)[0][2] == workers
