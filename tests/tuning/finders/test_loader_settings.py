"""The settings of a loader: what is faster is found, what fails is a row, and the loader never notices."""

import copy
import multiprocessing
import os
import random
import sys
import time

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
)

from torchmagic import find_loader_settings
from torchmagic.tuning.copies import Training
from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.loader_trial import LoaderTrial, restarts
from torchmagic.tuning.finders.trial_loader import indices_of


class Slow(Dataset):
    """Waits for each sample, as for a disk."""

    def __init__(self, seconds, number=64):
        self.seconds, self.number = seconds, number

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((4,), float(index)), index % 2


class Failing(Slow):
    """Does in workers what its name for it says."""

    def __init__(self, how):
        super().__init__(0.0)
        self.how = how

    def __getitem__(self, index):
        if get_worker_info() is not None and self.how == "raises":
            raise KeyError("no sample\nin a worker")
        if get_worker_info() is not None and self.how == "dies":
            os._exit(3)
        if get_worker_info() is not None and self.how == "hangs":
            time.sleep(600)
        return super().__getitem__(index)


def workers_left():
    return multiprocessing.active_children()


def test_workers_are_taken_where_they_are_faster(same_process):
    loader = DataLoader(Slow(0.004), batch_size=8)
    with same_process():
        found = find_loader_settings(loader, num_workers=[0, 3], prefetch_factors=[2], time_limit=12)
    assert found.recommended["num_workers"] == 3, str(found)
    assert found.code == "DataLoader(..., num_workers=3, prefetch_factor=2, persistent_workers=True)"
    assert "does not reach them" in found.notes[-1]
    assert found.rows[0].median > 0.03
    assert found.rows[0].figures["wait"] == pytest.approx(found.rows[0].median, rel=0.2)
    assert found.rows[1].figures["start"] > 0
    assert "Take num_workers=3: a batch takes " in str(found)
    assert "num_workers=3" in found._repr_html_()


def test_what_comes_from_memory_needs_no_workers():
    loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.zeros(64)), batch_size=8)
    found = find_loader_settings(loader, num_workers=[1], prefetch_factors=[2], time_limit=4)
    assert found.recommended == {
        "num_workers": 0,
        "prefetch_factor": None,
        "pin_memory": False,
        "persistent_workers": False,
    }
    assert found.code == ""
    assert "Keep num_workers=0: nothing else is faster beyond noise." in str(found)


def test_workers_that_only_cost_time_are_taken_away():
    loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.zeros(64)), batch_size=8, num_workers=1)
    found = find_loader_settings(loader, num_workers=[0], time_limit=8)
    assert found.code == "DataLoader(..., num_workers=0)"


def test_pinned_memory_is_tried_where_there_is_nothing_else_to_try(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.zeros(64)), batch_size=8)
    found = find_loader_settings(loader, num_workers=[0], time_limit=4)
    assert [row.setting["pin_memory"] for row in found.rows] == [False, True]
    assert found.recommended is not None


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raises", "in a worker: "),
        ("dies", "RuntimeError: DataLoader worker"),
        ("hangs", "the time limit of 3 s was over before it was timed"),
    ],
)
def test_workers_that_fail_are_rows_and_leave_nobody_behind(how, reason, same_process):
    loader = DataLoader(Failing(how), batch_size=8)
    begin = time.perf_counter()
    with same_process():
        found = find_loader_settings(loader, num_workers=[2], prefetch_factors=[2], time_limit=3)
    assert time.perf_counter() - begin < 3 + 2
    assert found.rows[0].times is not None
    assert found.rows[1].failure.startswith(reason), found.rows[1].failure
    assert found.recommended is None
    assert workers_left() == []


def test_a_dataset_that_cannot_be_pickled_is_a_row(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)  # tests that run side by side lack it

    class Local(Slow):
        pass

    loader = DataLoader(Local(0.0), batch_size=8, num_workers=1, multiprocessing_context="spawn")
    found = find_loader_settings(loader, num_workers=[0], time_limit=3)
    assert "pickle" in found.rows[0].failure.lower()
    assert "\n" not in found.rows[0].failure
    assert workers_left() == []


class Ticking(Dataset):
    """Lets a clock go on by a second for each sample."""

    def __init__(self, clock):
        self.clock = clock

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        self.clock.work(1.0)
        return torch.zeros(1)


def test_a_trial_in_this_process_ends_with_the_time_in_the_middle_of_a_batch(clock):
    loader = DataLoader(Ticking(clock), batch_size=500)
    deadline, begin = Deadline(7.5, clock), clock.now
    setting = {"num_workers": 0, "prefetch_factor": None, "pin_memory": False}
    indices = indices_of(loader, deadline)
    trial = LoaderTrial(loader, setting, indices, step=lambda _: None, wait=lambda: None, deadline=deadline)
    with pytest.raises(Exception, match=r"the time limit of 7.5 s was over"):
        trial()
    assert clock.now - begin == 8.0


def test_a_trial_counts_the_step_and_tells_the_wait_apart(clock):
    loader = DataLoader(Ticking(clock), batch_size=2)
    deadline = Deadline(1e6, clock)
    setting = {"num_workers": 0, "prefetch_factor": None, "pin_memory": False}
    trial = LoaderTrial(
        loader,
        setting,
        indices_of(loader, deadline),
        step=lambda _: clock.work(3.0),
        wait=lambda: None,
        deadline=deadline,
    )
    assert trial() == 5.0
    assert trial.figures() == {"wait": 2.0, "start": 5.0}


def test_beside_a_long_step_a_slow_loader_costs_nothing_and_is_kept():
    loader = DataLoader(Slow(0.0002), batch_size=4)
    found = find_loader_settings(loader, step_seconds=0.02, num_workers=[1], prefetch_factors=[2], time_limit=6)
    assert found.recommended["num_workers"] == 0
    assert found.rows[0].median > 0.02
    assert found.rows[0].figures["wait"] < 0.01


class Counted(Sampler):
    """Counts its passes, and gives another order in each."""

    def __init__(self):
        self.passes, self.seen = 0, []

    def __iter__(self):
        self.passes += 1
        self.seen.append(self.passes)
        yield from [(each * self.passes) % 40 for each in range(40)]

    def __len__(self):
        return 40


class Noisy(Dataset):
    """Draws from streams of its own, and keeps what it made."""

    def __init__(self):
        self.chance, self.bits = random.Random(1), np.random.default_rng(2)  # noqa: S311 - no secret
        self.stream = torch.Generator().manual_seed(3)
        self.kept = {}

    def __len__(self):
        return 40

    def __getitem__(self, index):
        own = self.chance.random() + self.bits.random() + torch.rand(1, generator=self.stream)
        self.kept[index] = len(self.kept)
        return own + index + random.random() + np.random.rand() + torch.rand(1)  # noqa: NPY002, S311 - the global ones


class Stream(IterableDataset):
    """Gives samples in a row, from where the pass before ended."""

    def __init__(self):
        self.place, self.chance = 0, random.Random(5)  # noqa: S311 - no secret

    def __iter__(self):
        for _ in range(80):
            self.place += 1
            yield torch.tensor([self.place + self.chance.random()])


def stream():
    return torch.Generator().manual_seed(9)


def weighted():
    own = stream()
    sampler = WeightedRandomSampler(torch.rand(40, generator=own), 40, generator=own)
    return DataLoader(Noisy(), batch_size=4, sampler=sampler)


LOADERS = {
    "shuffled": lambda: DataLoader(Noisy(), batch_size=4, shuffle=True),
    "by a generator": lambda: DataLoader(Noisy(), batch_size=4, shuffle=True, generator=stream()),
    "weighted": weighted,
    "batch sampler": lambda: DataLoader(
        Noisy(), batch_sampler=BatchSampler(RandomSampler(range(40), generator=stream()), 4, drop_last=True)
    ),
    "counted": lambda: DataLoader(Noisy(), batch_size=4, sampler=Counted()),
    "samples": lambda: DataLoader(Noisy(), batch_size=None, shuffle=True),
    "stream": lambda: DataLoader(Stream(), batch_size=4),
}


def passes(loader):
    return [torch.as_tensor(batch).tolist() for _ in range(2) for batch in loader]


@pytest.mark.parametrize("kind", list(LOADERS))
def test_the_next_passes_give_what_they_would_have_given(kind, same_process):
    torch.manual_seed(1), random.seed(1), np.random.seed(1)  # noqa: NPY002 - the global one
    torch.rand(3)
    expected = passes(LOADERS[kind]())
    torch.manual_seed(1), random.seed(1), np.random.seed(1)  # noqa: NPY002 - the global one
    torch.rand(3)
    loader = LOADERS[kind]()
    attributes = {name: value for name, value in vars(loader).items() if name != "dataset"}
    with same_process():
        found = find_loader_settings(loader, num_workers=[0, 1], prefetch_factors=[2], time_limit=1)
    assert found.rows[0].times
    assert all(row.times or "time limit" in row.failure for row in found.rows), str(found)
    assert {name: value for name, value in vars(loader).items() if name != "dataset"} == attributes
    assert passes(loader) == expected


def test_workers_of_the_users_go_on_with_their_pass():
    def made():
        stream = torch.Generator().manual_seed(4)
        return DataLoader(
            Slow(0.0, 40), batch_size=4, shuffle=True, generator=stream, num_workers=1, persistent_workers=True
        )

    untouched, loader = made(), made()
    expected = [batch[0].tolist() for _ in range(2) for batch in untouched]
    batches = iter(loader)
    got = [next(batches)[0].tolist() for _ in range(3)]
    own = loader._iterator
    find_loader_settings(loader, num_workers=[0], time_limit=0.5)
    setting = {"num_workers": 1, "prefetch_factor": 2, "pin_memory": False}
    deadline = Deadline(20.0)
    assert len(restarts(loader, setting, indices_of(loader, deadline), deadline)) > 2
    assert loader._iterator is own
    got += [batch[0].tolist() for batch in batches]
    got += [batch[0].tolist() for batch in loader]
    assert got == expected


def test_a_training_beside_it_changes_nothing_of_the_users(state_of, are_equal, same_process):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 2))
    optimizer, criterion = torch.optim.Adam(model.parameters()), nn.CrossEntropyLoss()
    training = Training(model=model, optimizer=optimizer, criterion=criterion)
    before = state_of(training)
    loader = DataLoader(Slow(0.0), batch_size=8, shuffle=True)
    with same_process():
        found = find_loader_settings(loader, model, optimizer, criterion, num_workers=[0], time_limit=4)
    assert are_equal(state_of(training), before)
    assert found.rows[0].median > found.rows[0].figures["wait"]
    assert "batch + step" in str(found)


class Once(IterableDataset):
    def __init__(self):
        self.rows = iter(range(100))

    def __iter__(self):
        return self.rows


LOADER = DataLoader(TensorDataset(torch.zeros(4)), batch_size=2)


@pytest.mark.parametrize(
    ("args", "fields", "error", "message"),
    [
        (([1],), {}, TypeError, "a list came; wanted a torch.utils.data.DataLoader"),
        ((LOADER, nn.Linear(1, 1)), {}, TypeError, "a model and its optimizer are given together"),
        ((LOADER, 3), {}, TypeError, "a int came as the model"),
        ((LOADER,), {"step_seconds": -1}, ValueError, "step_seconds=-1 came; wanted the seconds of a step"),
        ((LOADER,), {"num_workers": [-1]}, ValueError, "num_workers=.-1. came; wanted whole numbers from 0 on"),
        ((LOADER,), {"prefetch_factors": [0]}, ValueError, "prefetch_factors=.0. came; wanted whole numbers from 1 on"),
        ((LOADER,), {"time_limit": "1"}, ValueError, "time_limit='1' came"),
        ((DataLoader(Once(), batch_size=2),), {}, ValueError, "gives each item once"),
        ((DataLoader(TensorDataset(torch.zeros(0)), batch_size=2),), {}, ValueError, "the loader gives no batch"),
    ],
    ids=["loader", "optimizer", "model", "step", "workers", "prefetch", "limit", "once", "empty"],
)
def test_bad_input_is_one_clear_line(args, fields, error, message):
    with pytest.raises(error, match=message) as raised:
        find_loader_settings(*args, **fields)
    assert "\n" not in str(raised.value)


def test_a_loader_is_not_held():
    before = copy.copy(vars(LOADER))
    find_loader_settings(LOADER, num_workers=[0], time_limit=0.3)
    assert vars(LOADER) == before
