"""This file tests what is known of the batches that loaders give."""

import gc
import warnings
import weakref

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.records.data import BadSampleRecord, BatchRecord, ClassCountsRecord, Source

MAKE = "make, tensors = torch.utils.data.DataLoader, torch.utils.data.TensorDataset\n"
ONLY = {"only": ("data",)}
TRAIN = """
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(epochs):
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
"""


def quantised():
    with warnings.catch_warnings(action="ignore"):  # deprecated, and still met
        return torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8)


def of_loader(run, kind, name="loader"):
    return [each for each in run.of(kind) if (each.loader if kind is BadSampleRecord else each.name) == name]


def test_the_values_of_each_tensor_of_a_batch_are_told(run_cell):
    x = torch.arange(24.0).reshape(8, 3)
    names = {"data": TensorDataset(x, torch.arange(8) % 2)}
    run, _ = run_cell(MAKE + "loader = make(data, batch_size=4)\nfor batch in loader: pass", names=names, **ONLY)
    first, second = of_loader(run, BatchRecord)
    assert (first.source, first.field, first.shape, first.dtype) == (Source.LOADER, "0", (4, 3), "float32")
    assert (first.layout, first.device, first.low, first.high, first.mean) == ("contiguous", "cpu", 0.0, 11.0, 5.5)
    assert first.std == pytest.approx(x[:4].std(correction=0).item())
    assert (second.field, second.dtype, second.high) == ("1", "int64", 1.0)
    assert run.series("batch_mean", name="loader[0]")[1] == [5.5, 17.5]
    assert run.series("batch_high", name="loader[1]")[1] == [1.0, 1.0]


def test_a_batch_may_be_a_dict_or_a_bare_tensor(run_cell):
    names = {"rows": [{"image": torch.zeros(2), "more": {"mask": torch.ones(1)}}] * 2, "plain": [torch.zeros(3)] * 2}
    run, _ = run_cell(MAKE + "a, b = make(rows), make(plain)\nfor x in a: pass\nfor x in b: pass", names=names, **ONLY)
    assert [each.field for each in of_loader(run, BatchRecord, "a")] == ["image", "more.mask"]
    assert [each.field for each in of_loader(run, BatchRecord, "b")] == [""]
    assert run.subjects("batch_mean") == ("a[image]", "a[more.mask]", "b")


def test_a_new_dtype_is_told_and_an_old_one_is_not_told_again(run_cell):
    names = {"rows": [torch.zeros(2)] * 6 + [torch.zeros(2, dtype=torch.float64)] * 2}
    run, _ = run_cell(MAKE + "loader = make(rows, batch_size=2)\nfor x in loader: pass", names=names, **ONLY)
    assert [each.dtype for each in of_loader(run, BatchRecord)] == ["float32", "float64"]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_bad_sample_is_known_by_its_index_in_the_dataset(run_cell, workers):
    x, y = torch.zeros(20, 3), torch.zeros(20, dtype=torch.long)
    x[13, 1], x[6] = float("nan"), float("inf")
    source = (
        MAKE + f"data = tensors(x, y)\nloader = make(data, batch_size=4, shuffle=True, num_workers={workers})\n"
        "for batch in loader: pass\nfor batch in loader: pass"
    )
    run, _ = run_cell(source, names={"x": x, "y": y}, **ONLY)
    found = of_loader(run, BadSampleRecord)
    assert {(each.epoch, each.index, each.num_nan, each.num_infinite) for each in found} == {
        (0, 13, 1, 0),
        (0, 6, 0, 3),
        (1, 13, 1, 0),
        (1, 6, 0, 3),
    }
    assert all(0 <= each.row < 4 and 0 <= each.batch < 5 for each in found)


def test_workers_that_were_left_early_do_not_confuse_the_indices(run_cell):
    x = torch.zeros(24, 1)
    x[9] = float("nan")
    source = (
        MAKE + "loader = make(x, batch_size=4, num_workers=2, persistent_workers=True, shuffle=True)\n"
        "for batch in loader: break\nfor batch in loader: pass"
    )
    run, _ = run_cell(source, names={"x": x}, **ONLY)
    found = of_loader(run, BadSampleRecord)
    assert found
    assert {each.index for each in found} == {9}


def test_a_bad_sample_is_found_by_its_gradients_where_batches_are_not_looked_at(run_cell):
    x, y = torch.randn(400, 3), torch.zeros(400, dtype=torch.long)
    x[303] = float("nan")
    source = MAKE + "epochs, loader = 1, make(tensors(x, y), batch_size=4)\n" + TRAIN
    run, _ = run_cell(source, names={"x": x, "y": y}, only=("data", "gradients"), every=1000)
    assert {each.index for each in of_loader(run, BadSampleRecord)} == {303}


def test_rows_that_a_collate_function_made_have_no_index(run_cell):
    source = (
        MAKE + "def double(rows): return torch.stack(rows + rows)\nloader = make(x, batch_size=2, collate_fn=double)\n"
        "for batch in loader: pass"
    )
    run, _ = run_cell(source, names={"x": torch.full((4, 2), float("nan"))}, **ONLY)
    found = of_loader(run, BadSampleRecord)
    assert found
    assert {each.index for each in found} == {None}


def test_sound_batches_have_no_bad_sample(run_cell):
    run, _ = run_cell(
        MAKE + "loader = make(x, batch_size=2)\nfor batch in loader: pass",
        names={"x": torch.full((4, 2), 3e38)},  # their sum overflows, they do not
        **ONLY,
    )
    assert not of_loader(run, BadSampleRecord)


def test_grouped_labels_are_told_from_mixed_ones(run_cell):
    y = torch.arange(4).repeat_interleave(32)
    source = (
        MAKE + "data = tensors(torch.randn(128, 3), y)\n"
        "grouped, mixed = make(data, batch_size=16), make(data, batch_size=16, shuffle=True)\n"
        "for batch in grouped: pass\nfor batch in mixed: pass"
    )
    run, _ = run_cell(source, names={"y": y}, **ONLY)
    (grouped,) = of_loader(run, ClassCountsRecord, "grouped")
    (mixed,) = of_loader(run, ClassCountsRecord, "mixed")
    assert (grouped.num_batches, grouped.num_few, grouped.field) == (8, 8, "1")
    assert (mixed.num_batches, mixed.num_few) == (8, 0)
    assert (grouped.num_in_order, mixed.num_in_order) == (7, 0)
    assert grouped.counts == {"0": 32, "1": 32, "2": 32, "3": 32} == mixed.counts
    assert run.series("batch_classes", name="grouped[1]")[1] == [1.0] * 8


def test_tokens_and_numbers_are_no_classes(run_cell):
    names = {"tokens": torch.randint(5000, 50000, (16,)), "values": torch.randn(16)}
    source = MAKE + "a, b = make(tokens, batch_size=4), make(values, batch_size=4)\nfor x in a: pass\nfor x in b: pass"
    run, _ = run_cell(source, names=names, **ONLY)
    assert not run.of(ClassCountsRecord)


def test_the_same_order_in_each_pass_is_told_from_a_new_one(run_cell):
    source = (
        MAKE + "same, new, again = make(x, batch_size=4), make(x, batch_size=4, shuffle=True), None\n"
        "for _ in range(3):\n"
        "    for batch in same: pass\n    for batch in new: pass\n"
        "    again = make(x, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(0))\n"
        "    for batch in again: pass"
    )
    run, _ = run_cell(source, names={"x": torch.randn(64, 5)}, **ONLY)
    assert run.series("order_repeated", name="same")[1] == [1.0, 1.0]
    assert run.series("order_repeated", name="new")[1] == [0.0, 0.0]
    assert run.series("order_repeated", name="again")[1] == [1.0, 1.0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_batches_that_are_not_finite_are_told_from_each_other_and_known_again(run_cell, bad):
    x = torch.randn(64, 5)
    x[:, 2] = bad
    source = MAKE + "loader = make(x, batch_size=4)\nfor _ in range(2):\n    for batch in loader: pass"
    run, _ = run_cell(source, names={"x": x}, **ONLY)
    assert run.series("order_repeated", name="loader")[1] == [1.0]
    assert run.series("repeated_batches", name="loader")[1] == [0.0, 0.0]


def test_images_with_black_borders_are_not_taken_for_each_other(run_cell):
    images = torch.zeros(512, 1, 28, 28)
    images[:, :, 10:18, 10:18] = torch.rand(512, 1, 8, 8)
    source = MAKE + "loader = make(x, batch_size=128)\nfor batch in loader: pass"
    run, _ = run_cell(source, names={"x": images}, **ONLY)
    assert run.series("repeated_batches", name="loader")[1] == [0.0]


def test_workers_with_one_random_stream_repeat_their_batches(run_cell):
    source = MAKE + (
        "import numpy as np\n"
        "class Random(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 16\n"
        "    def __getitem__(self, i): return torch.from_numpy(np.random.rand(3))\n"
        "def init(worker): np.random.seed(0)\n"
        "alike, own = make(Random(), 2, num_workers=2, worker_init_fn=init), make(Random(), 2, num_workers=2)\n"
        "for batch in alike: pass\nfor batch in own: pass"
    )
    run, _ = run_cell(source, **ONLY)
    assert run.series("repeated_batches", name="alike")[1] == [0.5]
    assert run.series("repeated_batches", name="own")[1] == [0.0]


@pytest.mark.parametrize(
    "row",
    [
        torch.zeros(0),
        torch.zeros((), dtype=torch.complex64),
        torch.zeros(2, dtype=torch.bfloat16),
        torch.zeros(2, dtype=torch.bool),
        torch.zeros(2, dtype=torch.float16).fill_(60000),
        torch.zeros(2, 2).to_sparse(),
        torch.zeros(2, device="meta"),
        quantised(),
        "text",
        None,
    ],
    ids=["empty", "complex", "bfloat16", "bool", "half", "sparse", "meta", "quantised", "text", "none"],
)
def test_batches_of_any_kind_are_survived(run_cell, row):
    source = MAKE + "loader = make([row] * 3, batch_size=None)\nfor batch in loader: pass"
    run, _ = run_cell(source, names={"row": row}, **ONLY)
    assert run.series("epoch_batches", name="loader")[1] == [3.0]
    assert not run.of(BadSampleRecord)


def test_a_batch_is_let_go_of_when_its_step_is_over(run_cell):
    source = MAKE + "loader = make(x, batch_size=1)\nfor batch in loader:\n    ref = weakref.ref(batch)"
    _, names = run_cell(source, names={"x": torch.randn(40, 2), "weakref": weakref}, **ONLY, every=1000)
    del names["batch"]
    gc.collect()
    assert names["ref"]() is None


def test_the_batch_before_is_not_held_while_the_next_one_is_fetched(run_cell):
    held = []

    class Watched(torch.utils.data.Dataset):
        last = None

        def __len__(self):
            return 40

        def __getitem__(self, i):
            held.append(self.last is not None and self.last() is not None)
            return torch.full((2,), float(i))

    data = Watched()
    source = (
        MAKE + "loader = make(data, batch_size=1)\nfor batch in loader:\n"
        "    data.last = weakref.ref(batch)\n    del batch"
    )
    run_cell(source, names={"data": data, "weakref": weakref}, only=("data", "gradients"), every=1000)
    assert len(held) == 40
    assert not any(held)


def test_batches_are_looked_at_less_and_less_where_steps_are_cheap(run_cell):
    x, y = torch.randn(1200, 3), torch.zeros(1200, dtype=torch.long)
    source = MAKE + "epochs, loader = 1, make(tensors(x, y), batch_size=1)\n" + TRAIN
    run, _ = run_cell(source, names={"x": x, "y": y}, **ONLY, every=None, budget=0)
    assert len(run.series("batch_wait", name="loader")[0]) == 1200
    assert 16 <= len(run.series("batch_mean", name="loader[0]")[0]) < 600


def test_a_loader_of_before_is_a_loader(run_cell):
    loader = DataLoader(TensorDataset(torch.zeros(8, 1)), batch_size=4)
    run, _ = run_cell("for _ in range(2):\n    for (x,) in loader: pass", names={"loader": loader}, **ONLY)
    assert run.series("order_repeated", name="loader")[1] == [1.0]
