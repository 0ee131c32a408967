"""This file tests what is known of what models and losses are given, with no loader about."""

import pytest
import torch

from torchmagic.records.data import BatchRecord, ClassCountsRecord, Source
from torchmagic.records.feeding import RepeatedInputRecord, SharedRowsRecord

ONLY = {"only": ("data",)}
LOOP = """
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(0, 64, 8):
    xb, yb = x[i : i + 8], y[i : i + 8]
    opt.zero_grad()
    F.cross_entropy(net(xb), yb).backward()
    opt.step()
"""


def data(**more):
    return {"x": torch.arange(192.0).reshape(64, 3), "y": torch.arange(64) // 32, **more}


def test_what_a_model_is_given_by_hand_is_told_like_a_batch(run_cell):
    run, _ = run_cell(LOOP, names=data(), **ONLY)
    (found,) = [each for each in run.of(BatchRecord) if each.source is Source.MODEL]
    assert (found.name, found.field, found.shape, found.low, found.high) == ("net", "0", (8, 3), 0.0, 23.0)
    assert found.training
    assert run.series("batch_high", name="net[0]")[1] == [23.0 + 24 * i for i in range(8)]


def test_what_a_model_is_given_by_keyword_is_told(run_cell):
    run, _ = run_cell(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.embed = nn.Embedding(9, 2)\n"
        "    def forward(self, *, tokens): return self.embed(tokens)\n"
        "net = Net()\nwith torch.no_grad(): net(tokens=torch.tensor([[1, 2]]))",
        **ONLY,
    )
    (found,) = run.of(BatchRecord)
    assert (found.field, found.dtype, found.training) == ("tokens", "int64", False)


def test_targets_and_predictions_of_a_loss_are_told(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(1, 1)\nopt = torch.optim.SGD(net.parameters(), lr=1e-9)\n"
        "for _ in range(4):\n    F.mse_loss(net(x), 5000 * x).backward()\n    opt.step()",
        names={"x": torch.ones(8, 1)},
        **ONLY,
    )
    found = {each.field: each for each in run.of(BatchRecord) if each.source is Source.LOSS}
    assert found["target"].mean == 5000
    assert abs(found["input"].mean) < 10
    assert run.series("batch_mean", name="mse_loss[target]")[1] == [5000.0] * 4


def test_grouped_labels_are_known_without_a_loader(run_cell):
    run, _ = run_cell(LOOP.replace("(4, 2)", "(4, 4)"), names=data(y=torch.arange(64) // 16), **ONLY)
    (found,) = run.of(ClassCountsRecord)
    assert (found.source, found.name, found.field) == (Source.LOSS, "cross_entropy", "target")
    assert (found.num_batches, found.num_few) == (8, 8)


@pytest.mark.parametrize(
    ("line", "expected"),
    [("xb = x[:8].clone()", {1.0}), ("xb = whole", {0.5}), ("xb = torch.randn(8, 3)", {0.0})],
    ids=["equal values", "the same tensor", "new values"],
)
def test_steps_on_the_same_values_are_told_from_steps_on_new_ones(run_cell, line, expected):
    source = LOOP.replace("xb, yb = x[i : i + 8], y[i : i + 8]", f"yb = y[:8]\n    {line}")
    run, _ = run_cell(source, names=data(whole=torch.ones(8, 3)), **ONLY)
    values = run.series("input_repeated", name="net")[1]
    assert len(values) == 7
    assert set(values) == expected


def test_evaluation_does_not_count_as_a_repeated_step(run_cell):
    source = LOOP + "    with torch.no_grad(): net.eval()(x[:8]); net.train()\n"
    run, _ = run_cell(source, names=data(), **ONLY)
    assert set(run.series("input_repeated", name="net")[1]) == {0.0}


def test_a_criterion_is_no_model(run_cell):
    run, _ = run_cell("nn.MSELoss()(torch.ones(2), torch.zeros(2))", **ONLY)
    assert {each.source for each in run.of(BatchRecord)} == {Source.LOSS}


FOLDS = """
for fold in range(4):
    held = torch.arange(64) % 4 == fold
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for i in range(0, 48, 8):
            net.train()
            opt.zero_grad()
            F.cross_entropy(net(x[~held][i : i + 8]), y[~held][i : i + 8]).backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        net(x[held{but}])
"""


@pytest.mark.parametrize(("but", "shared"), [("", 0), (" | True", 48)])
def test_a_model_of_another_fold_has_trained_on_nothing_of_this_one(run_cell, but, shared):
    run, _ = run_cell(FOLDS.format(but=but), names=data(), **ONLY)
    found = run.of(SharedRowsRecord)
    assert len(found) == 4
    assert {record.num_equal for record in found} == {shared}


FEW = """
net = nn.Sequential(nn.Linear(3, 256), nn.Linear(256, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
best = {name: value.detach().clone() for name, value in net.named_parameters()}
for i in range(12):
    opt.zero_grad()
    F.cross_entropy(net(x[part]), y[part]).backward()
    opt.step()
    with torch.no_grad():
        net(x[rest])
"""


@pytest.mark.parametrize(("rest", "evaluated"), [(slice(8, 32), 24), (slice(0, 8), 0)])
def test_of_rows_that_repeat_it_is_told_how_many_there_are_and_how_many_others_are_evaluated(run_cell, rest, evaluated):
    run, _ = run_cell(FEW, names=data(part=slice(0, 8), rest=rest), **ONLY)
    (record,) = run.of(RepeatedInputRecord)
    assert (record.num_rows, record.num_known, record.num_evaluated) == (8, 64, evaluated)  # 256 are weights


def test_states_that_are_tried_first_and_learned_from_after_are_no_overlap(run_cell):
    run, _ = run_cell(
        """
        policy = nn.Linear(4, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for turn in range(3):
            states = torch.randn(4, 64, 4)
            with torch.no_grad():
                tried = [policy(state) for state in states]
            for part in states.flatten(0, 1).split(32):
                opt.zero_grad()
                policy(part).pow(2).mean().backward()
                opt.step()
        """
    )
    assert {record.num_equal for record in run.of(SharedRowsRecord)} == {0}
