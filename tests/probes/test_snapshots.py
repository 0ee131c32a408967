"""This file tests snapshots: what they hold, at which steps, and that there is an end to them."""

import weakref

import pytest
import torch
from torch import nn

from torchmagic.probes import snapshots
from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Optimizer
from torchmagic.probes.taps import Taps
from torchmagic.records.note import NoteRecord
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run

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
    assert [each.step for each in taken] == [0, 1, 2, 4, 6]
    truth = names[kind].flatten()
    last = taken[-2]
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


def test_other_levels_take_one_as_the_run_ends(run_cell):
    run, names = run_cell(LOOP.format(steps=6), level="advanced")
    assert {each.step for each in run.of(SnapshotRecord)} == {6}
    assert len(run.of(SnapshotRecord)) == 8  # four parameters, each with its gradient
    (last,) = of(run, SnapshotKind.WEIGHT, "net.0.weight")
    assert last.histogram.edges[0] == names["net"][0].weight.min().item()
    run, _ = run_cell(LOOP.format(steps=6), level="basic")
    assert not run.of(SnapshotRecord)


def test_the_last_look_stops_when_its_time_is_over():
    cast, recorder = Cast({}), Recorder(Run())
    weight = nn.Parameter(torch.randn(8))
    entry = Optimizer(torch.optim.SGD([weight], lr=1.0), "opt")
    entry.names, entry.refs = ("a", "b"), [weakref.ref(weight)] * 2
    cast.optimizers.append(entry)
    recorder.count_step()
    for most_seconds, expected in ((-1.0, 0), (60.0, 2)):
        look = snapshots.LastLook(cast, most_seconds=most_seconds)
        look.attach(Taps(on_failure=print), recorder)
        look.detach()
        look.detach()
        assert len(recorder._run.of(SnapshotRecord)) == expected


def test_there_is_an_end_to_them_and_it_is_said_once(run_cell, monkeypatch):
    monkeypatch.setattr(snapshots, "MOST_SNAPSHOTS", 20)
    run, _ = run_cell(LOOP.format(steps=20), level="expert")
    assert len([each for each in run.of(SnapshotRecord) if each.step < run.steps]) == 20
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


def test_an_output_is_kept_as_it_was_when_it_is_changed_in_place(run_cell):
    run, _ = run_cell(LOOP.format(steps=2).replace("nn.Tanh()", "nn.ReLU(inplace=True)"), level="expert")
    assert all(each.histogram.edges[0] < 0 for each in of(run, SnapshotKind.ACTIVATION, "net.0"))
    assert all(each.histogram.edges[0] == 0 for each in of(run, SnapshotKind.ACTIVATION, "net.1"))


def test_outputs_do_not_wait_for_the_parameters_without_end(run_cell, monkeypatch):
    taken, take = [], snapshots.Snapshots._take
    monkeypatch.setattr(
        snapshots.Snapshots, "_take", lambda self, wanted: (taken.append(len(wanted)), take(self, wanted))
    )
    monkeypatch.setattr(snapshots, "MOST_WAITING", 32 * 40)
    run, _ = run_cell(LOOP.format(steps=1), level="expert")
    assert [each for each in taken if each] == [2, 1 + 8]  # two layers' outputs; the third's, weights and gradients
    assert len([each for each in run.of(SnapshotRecord) if each.step == 0]) == 11
