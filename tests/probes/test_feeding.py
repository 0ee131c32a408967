"""This file tests the probes of what the data feed: loaders' use, first layers, repeated inputs, shared rows, reads."""

import linecache
import warnings

import pytest
import torch

from torchmagic.probes.sites import RELAY
from torchmagic.records.data import BatchRecord
from torchmagic.records.feeding import (
    DifferenceRecord,
    FirstLayerRecord,
    HostReadsRecord,
    LoaderUseRecord,
    PaddingRecord,
    RepeatedInputRecord,
    SharedRowsRecord,
    SlowModeRecord,
)
from torchmagic.records.model import LoaderRecord
from torchmagic.tensors.rows import layer_scales, row_prints

LOOP = """
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
data, make = torch.utils.data.TensorDataset(torch.randn(64, 3)), torch.utils.data.DataLoader
def step(x, model=net):
    opt.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    opt.step()
    return loss
"""


def only(run, kind):
    (record,) = run.of(kind)
    return record


def test_the_use_of_a_loader_is_counted(run_cell):
    run, _ = run_cell(
        LOOP + "train = make(data, batch_size=16)\n"
        "for _ in range(5): step(next(iter(train))[0])\n"
        "for x, in train: step(x)\n"
    )
    use = only(run, LoaderUseRecord)
    assert (use.num_passes, use.num_batches, use.num_single, use.num_empty, use.num_trained) == (6, 9, 5, 0, 9)
    assert use.place.source.startswith("for _ in range(5)")
    assert only(run, LoaderRecord).made.source == "train = make(data, batch_size=16)"


def test_the_line_that_made_a_loader_is_searched_in_earlier_cells(run_cell, monkeypatch):
    train = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 3)), batch_size=4)
    run, _ = run_cell("for x, in train: pass", names={"train": train})
    assert only(run, LoaderRecord).made is None
    cell = "import torch\ntrain, test = DataLoader(a), DataLoader(b)\ntrain = [1]\n"
    for file, text in (("<ipython-input-1-a>", cell), ("<ipython-input-2-b>", "for x in DataLoader(train)")):
        monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(keepends=True), file))
    run, _ = run_cell("for x, in train: pass", names={"train": train})
    assert only(run, LoaderRecord).made_before
    assert only(run, LoaderRecord).made.source == "train, test = DataLoader(a), DataLoader(b)"


def test_a_pass_that_ends_at_once_is_empty_and_one_that_is_left_is_not(run_cell):
    run, _ = run_cell(
        LOOP + "train = make(data, batch_size=65, drop_last=True)\nfor x, in train: pass\nit = iter(train)"
    )
    use = only(run, LoaderUseRecord)
    assert (use.num_passes, use.num_batches, use.num_empty) == (2, 0, 1)


def test_a_batch_that_is_only_evaluated_is_not_trained_on(run_cell):
    run, _ = run_cell(
        LOOP + "train, test = make(data, batch_size=16), make(data, batch_size=8)\n"
        "for x, in train: step(x)\n"
        "with torch.no_grad():\n    for x, in test: net(x)\n"
        "for x, in train: step(x)\n"
    )
    assert {use.loader: use.num_trained for use in run.of(LoaderUseRecord)} == {"train": 8, "test": 0}


def repeats(run_cell, source):
    run, _ = run_cell(LOOP + source)
    found = run.of(RepeatedInputRecord)
    return found[0] if found else None


def test_equal_values_in_new_tensors_repeat(run_cell):
    record = repeats(run_cell, "big = torch.randn(90, 3)\nfor _ in range(12): step(big[:9])")
    assert (record.num_steps, record.num_rows, record.num_known, record.loader) == (12, 9, 90, "")
    assert record.place.source == "loss = model(x).square().mean()"


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.randn(9, 3)\nfor _ in range(12): step(x)",
        "for _ in range(12): step(torch.randn(9, 3))",
        "x = torch.randn(9, 3)\nfor i in range(12): step(x + i)",
        "net.eval()\nx = torch.randn(90, 3)\nfor _ in range(12): step(x[:9])",
        "for _ in range(12): step(torch.full((9, 3), float('nan')))",
        "for _ in range(12): step(torch.full((9, 3), float('inf')))",
    ],
    ids=["the same tensor", "other values", "values that move", "no training", "NaN alone", "infinities alone"],
)
def test_nothing_repeats(run_cell, source):
    assert repeats(run_cell, source) is None


def test_another_second_input_is_another_batch(run_cell):
    run, _ = run_cell(
        LOOP
        + """
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net
    def forward(self, x, t):
        return self.net(x) * t
two, x = Two(), torch.ones(9, 3)
for i in range(12): step(x.clone(), lambda x: two(x, i))
for i in range(12): step(x.clone(), lambda x: two(x, torch.tensor([float(i)])))
"""
    )
    assert run.of(RepeatedInputRecord) == []


def test_rows_of_a_test_loader_are_compared_with_those_trained_on(run_cell):
    run, _ = run_cell(
        LOOP + "train = make(data, batch_size=16)\n"
        "test = make(torch.utils.data.TensorDataset(torch.cat([data[:16][0], torch.randn(16, 3)])), batch_size=32)\n"
        "for x, in train: step(x)\nnet.eval()\n"
        "with torch.no_grad():\n    for x, in test: net(x)\n"
    )
    record = only(run, SharedRowsRecord)
    assert (record.loader, record.num_rows, record.num_equal, record.num_known) == ("test", 32, 16, 64)
    assert not record.coarse


def test_rows_of_a_single_whole_number_are_equal_by_chance(run_cell):
    run, _ = run_cell(
        "net = nn.Embedding(90, 4)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nids = torch.arange(90)\n"
        "for part in ids.split(30):\n    opt.zero_grad()\n    net(part).square().mean().backward()\n    opt.step()\n"
        "with torch.no_grad(): net(ids[:60])\n"
    )
    assert only(run, SharedRowsRecord).coarse


def test_the_training_dataset_and_the_batch_itself_are_no_test_set(run_cell):
    run, _ = run_cell(
        LOOP + "train, again = make(data, batch_size=16), make(data, batch_size=32)\n"
        "for x, in train:\n    step(x)\n    with torch.no_grad(): net(x)\n"
        "with torch.no_grad():\n    for x, in again: net(x)\n"
    )
    assert run.of(SharedRowsRecord) == []


def test_equal_rows_have_equal_prints_and_others_do_not():
    rows = torch.randn(50, 300)
    assert row_prints(rows, 50) == row_prints(rows.clone(), 50)
    assert len(set(row_prints(rows, 50))) == 50
    for other in (rows.double(), rows.half(), (rows * 100).int(), rows > 0, rows.bfloat16()):
        assert len(row_prints(other, 10)) == 10


def test_a_column_that_is_hardly_ever_there_is_not_a_small_one():
    values = torch.rand(256, 3) + 0.5
    values[:, 1] *= (torch.arange(256) == 7).float()
    scale, spread = layer_scales(values, -1, 1 << 16)
    assert 0.9 < scale < 1.1
    assert spread < 3
    values[:, 2] *= 5000
    assert layer_scales(values, -1, 1 << 16)[1] > 1000


def test_dark_pixels_do_not_make_a_bright_channel_small():
    images = torch.full((4, 1, 8, 8), 0.0)
    images[..., :2] = 200.0
    assert layer_scales(images, 1, 1 << 16)[0] == 200.0


def first_layers(run):
    return {(record.module, record.class_name) for record in run.of(FirstLayerRecord)}


def test_the_first_layer_is_the_one_that_runs_first(run_cell):
    run, _ = run_cell(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last, self.first = nn.Linear(4, 1), nn.Linear(3, 4)
    def forward(self, x):
        return self.last(self.first(x / 10))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for _ in range(12):
    net(torch.full((8, 3), 70.0)).mean().backward()
    opt.step()
"""
    )
    assert first_layers(run) == {("net.first", "Linear")}
    assert len(run.of(FirstLayerRecord)) == 4
    assert run.of(FirstLayerRecord)[0].scale == 7.0


@pytest.mark.parametrize(
    "first",
    ["nn.BatchNorm1d(3)", "nn.LayerNorm(3)", "nn.PReLU(3)"],
)
def test_a_layer_that_may_normalise_is_not_looked_at(run_cell, first):
    run, _ = run_cell(LOOP + f"net = nn.Sequential({first}, net)\nfor _ in range(4): step(torch.randn(8, 3), net)")
    assert first_layers(run) == set()


def test_what_a_graph_leads_to_is_not_data(run_cell):
    run, _ = run_cell(
        LOOP + "body = nn.Linear(3, 3)\nfor _ in range(4):\n    with torch.no_grad(): body(torch.ones(2, 3))\n"
        "    step(body(torch.randn(8, 3)))"
    )
    assert {module for module, _ in first_layers(run)} == {"body"}


def test_padding_is_counted(run_cell):
    run, _ = run_cell(
        LOOP + "text = nn.Sequential(nn.Embedding(9, 3, padding_idx=0), net)\n"
        "for _ in range(6): step(torch.tensor([[1, 0, 0, 0]]), text)"
    )
    assert {(record.module, record.share) for record in run.of(PaddingRecord)} == {("text.0", 0.75)}


def test_reads_of_the_users_own_lines_are_counted(run_cell):
    run, _ = run_cell(
        LOOP + "opt = torch.optim.Adam(net.parameters())\n"
        "labels = torch.arange(5)\n"
        "for _ in range(6):\n"
        "    for label in labels: label.item()\n"
        "    loss = step(torch.randn(4, 3))\n"
        "    a = float(loss.detach() + loss.detach()); b = loss.item(); c = f'{loss:.2f}'; d = bool(loss > 0)\n"
    )
    steps, counts = run.series("host_reads")
    assert steps == [1, 2, 3, 4]
    assert counts == [4] * 4
    record = only(run, HostReadsRecord)
    assert record.methods == ("__float__", "item", "__format__", "__bool__")


def test_reads_are_counted_ever_more_rarely(run_cell):
    run, _ = run_cell(LOOP + "for _ in range(600):\n    step(torch.randn(4, 3)).item()\n", only=("performance",))
    assert run.series("host_reads") == ([1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512], [1] * 11)


def test_what_makes_the_next_batch_waits_for_nothing(run_cell):
    run, _ = run_cell(
        LOOP + "def fresh():\n    return torch.randn(int(torch.randint(2, 9, ())), 3)\n"
        "for _ in range(6):\n    x = fresh()\n    step(x)\n"
        "for _ in range(6):\n    step(fresh())\n"
    )
    assert set(run.series("host_reads")[1]) == {0}
    run, _ = run_cell(LOOP + "for _ in range(6):\n    step(torch.randn(4, 3))\n    float(torch.ones(1) + 1)\n")
    assert run.series("host_reads")[1][1:] == [1] * 3


def test_a_warning_of_torchs_about_a_read_names_the_users_line(run_cell):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_cell(LOOP + "for _ in range(3):\n    loss = step(torch.randn(4, 3))\n    float(loss)\n")
    assert all(each.filename.startswith("<cell") for each in caught)


def test_a_read_that_torch_refuses_raises_without_the_relay(run_cell):
    with pytest.raises(RuntimeError, match="numpy") as raised:
        run_cell(LOOP + "for _ in range(3): step(torch.randn(4, 3)).numpy()", raises=None)
    assert not [each for each in raised.traceback if each.name == RELAY]


def test_between_looks_reading_is_torchs_own(run_cell):
    _, names = run_cell(
        LOOP + "kinds = []\nfor _ in range(12):\n    step(torch.randn(4, 3))\n"
        "    kinds.append('item' in vars(torch.Tensor))"
    )
    assert names["kinds"] == [True] * 4 + [False] * 3 + [True] + [False] * 4


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("loss = ((model(x) - y) ** 2).mean()", True),
        ("loss = (y - model(x)).abs().mean() + 1e-3 * sum(p.square().sum() for p in model.parameters())", True),
        ("loss = F.mse_loss(model(x), y)", False),
        ("loss = model(x - y).mean()", False),
        ("loss = (model(x) - 3.0).square().mean()", False),
    ],
)
def test_the_subtraction_of_a_loss_by_hand_is_found(run_cell, line, told):
    columns = 3 if "x - y" in line else 1
    run, _ = run_cell(
        LOOP.replace("loss = model(x).square().mean()", line)
        + f"y = torch.full((4, {columns}), 500.0)\nfor _ in range(9): step(torch.randn(4, 3))\n"
    )
    assert [record.place.source for record in run.of(DifferenceRecord)] == [line] * told
    targets = [
        record.mean for record in run.of(BatchRecord) if (record.name, record.field) == ("subtraction", "target")
    ]
    assert targets == [500.0] * told
    if told:
        assert run.series("batch_mean", name="subtraction[target]")[0] == [0, 1, 2, 3, 4, 8]


def test_slow_modes_are_noticed(run_cell):
    run, _ = run_cell(LOOP + "torch.autograd.set_detect_anomaly(True)\nfor _ in range(3): step(torch.randn(4, 3))")
    torch.autograd.set_detect_anomaly(False)
    assert [(each.step, each.mode) for each in run.of(SlowModeRecord)] == [(i, "detect_anomaly") for i in range(3)]


def test_anomaly_detection_that_torchmagic_put_on_is_not_the_users(run_cell):
    run, _ = run_cell(LOOP + "for _ in range(3): step(torch.randn(4, 3))", level="expert", every=None)
    assert run.of(SlowModeRecord) == []


WORKERS = """
import functools, random
import numpy as np
rng = np.random.default_rng(0)
def noise():
    return rng.normal()
class Rows(torch.utils.data.Dataset):
    shared = random.Random(0)
    def __init__(self):
        self.own = torch.Generator()
        self.before = np.random.RandomState(0)
        self.order = self.before.permutation(8)
    def __len__(self): return 8
    def __getitem__(self, i): return torch.full((2,), float(self.draw(i)))
    def draw(self, i): return {}
def seed_all(worker, number=3): torch.manual_seed(number)
def seed_own(worker): torch.manual_seed(worker)
"""


def record_of(run_cell, draw, init="None"):
    run, _ = run_cell(
        WORKERS.replace("{}", draw)
        + f"loader = torch.utils.data.DataLoader(Rows(), num_workers=1, worker_init_fn={init})\nfor x in loader: pass"
    )
    return only(run, LoaderRecord)


@pytest.mark.parametrize(
    ("draw", "names"),
    [
        ("torch.rand(1, generator=self.own)", ("own",)),
        ("self.shared.random()", ("shared",)),
        ("noise()", ("rng",)),
        ("sum(rng.normal() for _ in range(2))", ("rng",)),
        ("np.random.rand()", ()),
        ("self.order[i]", ()),
        ("random.Random(i).random()", ()),
        ("self.own.manual_seed(i) and torch.rand(1, generator=self.own)", ()),
        ("torch.utils.data.get_worker_info().id + self.shared.random()", ()),
    ],
)
def test_generators_that_workers_draw_from_are_named(run_cell, draw, names):
    assert record_of(run_cell, draw).random_read == names


@pytest.mark.parametrize(
    ("init", "constant"),
    [
        ("seed_all", True),
        ("lambda worker: seed_all(0)", True),
        ("functools.partial(lambda number, worker: np.random.seed(number), 4)", True),
        ("seed_own", False),
        ("lambda worker: seed_own(worker)", False),
        ("functools.partial(lambda number, worker: np.random.seed(number + worker), 4)", False),
    ],
)
def test_a_function_that_gives_all_workers_the_same_seed_is_known(run_cell, init, constant):
    assert record_of(run_cell, "i", init).worker_init_constant is constant


@pytest.mark.parametrize(
    ("first", "x"),
    [
        ("nn.Embedding(9, 3)", "torch.randint(0, 9, (8, 1))"),
        ("nn.Linear(3, 3)", "torch.full((3,), 700.0)"),
        ("nn.Linear(3, 3)", "torch.full((8, 3), 70.0, requires_grad=True) * 10"),
    ],
    ids=["whole numbers", "one row", "what a graph led to"],
)
def test_what_is_no_table_of_numbers_is_not_looked_at(run_cell, first, x):
    run, _ = run_cell(
        f"net = nn.Sequential({first}, nn.Linear(3, 1))\nopt = torch.optim.SGD(net.parameters(), lr=1e-3)\n"
        f"for _ in range(12):\n    net({x}).mean().backward()\n    opt.step()\n"
    )
    assert "net.0" not in {record.module for record in run.of(FirstLayerRecord)}


def test_copies_within_the_processor_are_no_reads(run_cell):
    run, _ = run_cell(
        LOOP + "opt = torch.optim.Adam(net.parameters())\n"
        "for _ in range(6):\n"
        "    loss = step(torch.randn(4, 3))\n"
        "    for _ in range(9): loss.cpu()\n"
    )
    assert run.of(HostReadsRecord) == []


def test_rows_that_are_cut_out_by_their_numbers_wait_for_nothing(run_cell):
    run, _ = run_cell(
        LOOP + "series = torch.randn(40, 3)\n"
        "for _ in range(6): step(torch.cat([series[i : i + 2] for i in torch.randint(0, 30, (9,))]))\n"
    )
    assert run.of(HostReadsRecord) == []


def test_what_a_transform_reads_on_the_host_waits_for_nothing(run_cell):
    run, _ = run_cell(
        LOOP + "class Rows(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 48\n"
        "    def __getitem__(self, i):\n"
        "        return torch.randn(3) * (torch.rand(1).item() + int(torch.randint(0, 3, (1,))))\n"
        "for x in make(Rows(), batch_size=8): step(x).item()\n"
    )
    assert set(run.series("host_reads")[1]) == {1.0}
