"""What loading changes in a dataset is put back, and what is not its own is left alone."""

import random
import tempfile
from collections import deque

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from torchmagic.models.loader_batch import first_batches
from torchmagic.models.undone import undone


class Jitter:
    """A transform with a stream of its own and a count."""

    def __init__(self):
        self.chance, self.calls = random.Random(1), 0  # noqa: S311 - no secret


class Changing(Dataset):
    def __init__(self, file=None):
        self.transforms, self.file = [Jitter()], file
        self.bits, self.old = np.random.default_rng(2), np.random.RandomState(3)
        self.stream = torch.Generator().manual_seed(4)
        self.epoch, self.kept, self.order, self.seen, self.last = 0, {"a": 1}, [3, 1], {1}, deque([1, 2], maxlen=2)

    def __len__(self):
        return 6

    def __getitem__(self, index):
        self.epoch += 1
        self.kept[index] = index
        self.order.reverse()
        self.seen.add(index + 10)
        self.last.append(index)
        self.lazy = object()
        if self.file is not None:
            self.file.readline()
        self.transforms[0].calls += 1
        drawn = self.transforms[0].chance.random() + self.bits.random() + self.old.rand()
        return drawn + float(torch.rand(1, generator=self.stream))


def test_attributes_containers_streams_and_places_in_files_are_put_back():
    with tempfile.TemporaryFile("w+") as file:
        file.write("a\nb\nc\n")
        file.seek(0)
        dataset = Changing(file)
        order = dataset.order
        with undone(Subset(dataset, [0, 1, 2])):
            first = [dataset[i] for i in range(3)]
        assert "lazy" not in vars(dataset)
        assert (dataset.epoch, dataset.kept, dataset.order, dataset.seen) == (0, {"a": 1}, [3, 1], {1})
        assert dataset.last == deque([1, 2])
        assert dataset.order is order
        assert file.readline() == "a\n"
        file.seek(0)
        assert [dataset[i] for i in range(3)] == first


def test_of_what_is_no_dataset_only_the_streams_are_put_back():
    dataset = Changing()
    with undone(dataset):
        dataset[0]
    assert dataset.transforms[0].calls == 1
    assert dataset.transforms[0].chance.random() == random.Random(1).random()  # noqa: S311 - no secret


def test_it_is_put_back_after_an_error_too():
    dataset = Changing()
    with pytest.raises(KeyError), undone(dataset):
        dataset.kept[dataset[0]]
    assert dataset.epoch == 0


def test_what_refers_to_itself_and_a_file_that_is_closed_are_no_trouble():
    with tempfile.TemporaryFile() as file:
        dataset = Changing(file)
    dataset.itself, dataset.parts = dataset, [dataset, None, lambda: 1]
    with undone(dataset, None, 3, "text"):
        dataset.epoch = 5
    assert dataset.epoch == 0


def test_first_batches_are_taken_without_a_trace_on_the_dataset():
    dataset = Changing()
    loader = DataLoader(dataset, batch_size=2)
    first = first_batches(loader, 2)
    assert dataset.epoch == 0
    assert [batch.tolist() for batch in loader][:2] == [batch.tolist() for batch in first]
