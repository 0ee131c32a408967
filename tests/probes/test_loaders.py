"""This file tests how data loaders are discovered."""

import gc
import inspect
import weakref

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.debuggers.watching import watch
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


MAKE = "make = torch.utils.data.DataLoader\n"
NOISY = """
import numpy as np, random
class Noisy(torch.utils.data.Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)
    def __len__(self): return 8
    def __getitem__(self, i): return torch.tensor([self.rng.normal()])
"""


def record(run, name="loader"):
    return next(each for each in run.of(LoaderRecord) if each.name == name)


def test_how_a_loader_is_set_up_is_told(run_cell):
    run, _ = run_cell(
        DATA
        + MAKE
        + "def stack(rows): return torch.stack([row[0] for row in rows])\n"
        + "loader = make(data, batch_size=8, shuffle=True, drop_last=True, collate_fn=stack,\n"
        + "              generator=torch.Generator())\nfor x in loader: pass"
    )
    found = record(run)
    assert (found.shuffle, found.drop_last, found.collate, found.has_generator) == (True, True, "stack", True)
    assert (found.dataset, found.num_samples, found.num_workers, found.prefetch_factor) == (
        "TensorDataset",
        20,
        0,
        None,
    )
    assert found.place.source == "for x in loader: pass"


def test_loaders_over_one_dataset_object_share_its_number(run_cell):
    run, _ = run_cell(
        DATA + MAKE + "other = [torch.zeros(1)] * 4\ntrain, check, test = make(data), make(data), make(other)\n"
        "for loader in (train, check, test):\n    for x in loader: break"
    )
    numbers = {each.name: each.dataset_number for each in run.of(LoaderRecord)}
    assert numbers == {"train": 0, "check": 0, "test": 1}


def test_a_loader_made_anew_for_each_pass_is_one_loader(run_cell):
    run, _ = run_cell(DATA + MAKE + "for _ in range(30):\n    for x in make(data, batch_size=10): pass")
    assert [each.name for each in run.of(LoaderRecord)] == ["DataLoader"]
    assert run.series("epoch_batches", name="DataLoader")[1] == [2.0] * 30


def test_unnamed_loaders_over_two_datasets_are_told_apart(run_cell):
    run, _ = run_cell(
        DATA + MAKE + "more = torch.utils.data.TensorDataset(torch.randn(4, 3))\n"
        "for source in (data, more, data, more):\n    for x in make(source, batch_size=4): pass"
    )
    assert [each.name for each in run.of(LoaderRecord)] == ["DataLoader", "DataLoader#2"]
    assert run.series("epoch_batches", name="DataLoader#2")[1] == [1.0, 1.0]


def test_each_batch_tells_how_long_the_loop_waited(run_cell):
    run, _ = run_cell(
        "import time\nclass Slow(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, i):\n        time.sleep(0.01 * (i == 2))\n        return torch.zeros(1)\n"
        "loader = torch.utils.data.DataLoader(Slow())\nfor x in loader: pass"
    )
    waits = run.series("batch_wait", name="loader")[1]
    assert len(waits) == 4
    assert waits[2] > 0.009 > max(waits[0], waits[1], waits[3])


def test_a_loader_restarted_for_each_step_gives_one_batch_a_pass(run_cell):
    run, _ = run_cell(DATA + MAKE + "loader = make(data, batch_size=5)\nfor _ in range(6): x = next(iter(loader))")
    assert run.series("epoch_batches", name="loader")[1] == [1.0] * 6
    assert record(run).num_batches == 4


def test_an_empty_loader_gives_a_pass_without_batches(run_cell):
    run, _ = run_cell(DATA + MAKE + "loader = make(data, batch_size=32, drop_last=True)\nfor x in loader: pass")
    assert run.series("epoch_batches", name="loader")[1] == [0.0]


def test_a_generator_on_the_dataset_is_found_below_a_subset(run_cell):
    run, _ = run_cell(
        NOISY + MAKE + "loader = make(torch.utils.data.Subset(Noisy(), [0, 1]), num_workers=1)\n"
        "plain = make([torch.zeros(1)], num_workers=1)\nfor x in loader: pass\nfor x in plain: pass"
    )
    assert record(run).random_read == ("dataset.rng",)
    assert record(run, "plain").random_read == ()


@pytest.mark.parametrize(
    ("function", "constant"),
    [
        ("def init(worker): np.random.seed(0)", True),
        ("def init(worker): np.random.seed(worker)", False),
        ("def init(worker): np.random.seed(torch.initial_seed() % 2**32)", False),
        ("def init(worker): print(worker)", False),
    ],
)
def test_a_worker_init_that_seeds_all_workers_alike_is_known(run_cell, function, constant):
    run, _ = run_cell(NOISY + MAKE + function + "\nloader = make(Noisy(), worker_init_fn=init)\nfor x in loader: pass")
    assert (record(run).worker_init, record(run).worker_init_constant) == ("init", constant)


def test_a_loader_begun_before_the_run_is_met_by_its_batches(run_cell):
    loader = DataLoader(TensorDataset(torch.zeros(6, 1)), batch_size=2)
    run, _ = run_cell("for x in batches: pass", names={"batches": iter(loader), "loader": loader})
    assert record(run).dataset == "TensorDataset"
    assert run.series("epoch_batches", name="loader")[1] == [3.0]


def test_a_sampler_that_raises_shows_the_users_error(run_cell):
    source = (
        "class Broken(torch.utils.data.Sampler):\n    def __iter__(self): raise KeyError('mine')\n"
        "    def __len__(self): return 1\n"
        "for x in torch.utils.data.DataLoader([1], sampler=Broken()): pass"
    )
    run_cell(source, raises=KeyError)


def test_loaders_and_datasets_are_let_go(run_cell):
    class Kept(TensorDataset):
        pass

    data = Kept(torch.zeros(6, 1))
    ref = weakref.ref(data)
    _, names = run_cell("for x in torch.utils.data.DataLoader(data): pass", names={"data": data})
    names.clear()
    del data
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize(
    "kind",
    [torch.utils.data.DataLoader, torch.optim.Optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau, torch.nn.Module],
)
def test_a_constructor_shows_its_arguments_to_who_makes_an_object_again_from_them(kind):
    bare = inspect.signature(kind.__init__)
    with watch(save=False), watch(save=False):
        assert inspect.signature(kind.__init__) == bare
    assert inspect.signature(kind.__init__) == bare


def test_the_line_that_made_a_loader_is_told_and_whether_an_earlier_cell_did(run_cell):
    source = "loader = torch.utils.data.DataLoader(range(4))\n"
    run, names = run_cell(source + "for _ in loader: pass")
    (record,) = run.of(LoaderRecord)
    assert (record.made.line, record.made_before) == (1, False)
    run, _ = run_cell("for _ in loader: pass", names={"loader": names["loader"]})
    (record,) = run.of(LoaderRecord)
    assert record.made_before
