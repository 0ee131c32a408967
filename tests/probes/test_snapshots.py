"""This file tests snapshots: what they hold, at which steps, and that there is an end to them."""

import pytest
import torch

from torchmagic.probes import snapshots
from torchmagic.records.note import NoteRecord
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord

LOOP = """
net = nn.Sequential(nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({steps}):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn(32, 6)), torch.randint(0, 2, (32,))).backward()
    if step == 4:
        weight, gradient = net[0].weight.detach().clone(), net[0].weight.grad.clone()
    opt.step()
"""


def of(run, kind, subject):
    return [each for each in run.of(SnapshotRecord) if each.what is kind and each.subject == subject]


@pytest.mark.parametrize("kind", ["weight", "gradient"])
def test_a_snapshot_holds_the_values_of_that_step(run_cell, kind):
    run, names = run_cell(LOOP.format(steps=6), level="expert")
    taken = of(run, SnapshotKind(kind), "net.0.weight")
    assert [each.step for each in taken] == [0, 1, 2, 4]
    truth = names[kind].flatten()
    last = taken[-1]
    assert last.values == tuple(truth[:: -(-truth.numel() // 16)].tolist())
    assert sum(last.histogram.counts) == truth.numel()
    assert last.histogram.edges[0] == truth.min().item()
    assert last.histogram.edges[-1] == truth.max().item()
    expected = torch.histc(truth.double(), len(last.histogram.counts), *truth.aminmax())
    assert sum(abs(a - b) for a, b in zip(last.histogram.counts, expected.tolist(), strict=True)) <= 2


def test_layers_outputs_are_there_too(run_cell):
    run, _ = run_cell(LOOP.format(steps=6), level="expert")
    taken = of(run, SnapshotKind.ACTIVATION, "net.1")
    assert [each.step for each in taken] == [0, 1, 2, 4]
    assert all(-1 <= each.histogram.edges[0] < each.histogram.edges[-1] <= 1 for each in taken)


def test_other_levels_take_none(run_cell):
    run, _ = run_cell(LOOP.format(steps=6), level="advanced")
    assert not run.of(SnapshotRecord)


def test_there_is_an_end_to_them_and_it_is_said_once(run_cell, monkeypatch):
    monkeypatch.setattr(snapshots, "MOST_SNAPSHOTS", 20)
    run, _ = run_cell(LOOP.format(steps=20), level="expert")
    assert len(run.of(SnapshotRecord)) == 20
    assert [record.text for record in run.of(NoteRecord)] == [snapshots.FULL]


def test_tensors_whose_values_cannot_be_read_one_by_one_are_left_out(run_cell):
    run, _ = run_cell(
        """
        table = nn.Embedding(10, 4, sparse=True)
        opt = torch.optim.SparseAdam(table.parameters())
        for _ in range(3):
            opt.zero_grad()
            table(torch.tensor([1, 2, 2])).sum().backward()
            opt.step()
        """,
        level="expert",
    )
    assert of(run, SnapshotKind.WEIGHT, "table.weight")
    assert not of(run, SnapshotKind.GRADIENT, "table.weight")
