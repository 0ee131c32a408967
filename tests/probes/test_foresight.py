"""This file tests which models are seen to know what they are to predict."""

import pytest
import torch

from torchmagic.probes.foresight import MOST_COPIES
from torchmagic.records.structure import ForesightRecord

CELL = """
text = torch.arange(400) * 7 % 12

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(12, 8), nn.Linear(16, 12)
        self.lstm = nn.LSTM(8, {width}, batch_first=True, bidirectional={both})

    def forward(self, x):
        return self.head(self.lstm(self.embed(x){noise})[0])

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    x = text[torch.randint(0, 380, (4, 1)) + torch.arange(10)]
    y = text[torch.randint(0, 380, (4, 1)) + torch.arange(10)] if {other} else x * 7 % 12
    {loss}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
BOTH = {"width": 8, "both": True, "other": False, "noise": ""}
ONE = {"width": 16, "both": False, "other": False, "noise": ""}
WHOLE = "loss = F.cross_entropy(net(x[:, :-1]).transpose(1, 2), x[:, 1:])"
SHORTER = "loss = F.cross_entropy(net(x)[:, :-1].reshape(-1, 12), x[:, 1:].reshape(-1))"
PADDED = "x[:, 8:] = 0; loss = F.cross_entropy(net(x[:, :-1]).transpose(1, 2), x[:, 1:], ignore_index=0)"
MARKED = "y = x[:, 1:].clone(); y[:, :2] = -100; loss = F.cross_entropy(net(x[:, :-1]).transpose(1, 2), y)"
CHOSEN = MARKED.replace("-100", "-1").replace("2), y", "2), y, ignore_index=-1")


def recorded(run_cell, cell):
    return run_cell(cell)[0].of(ForesightRecord)


@pytest.mark.parametrize("loss", [WHOLE, SHORTER, PADDED, MARKED, CHOSEN])
def test_a_network_that_reads_both_ways_sees_what_follows(run_cell, loss):
    (record,) = recorded(run_cell, CELL.format(loss=loss, **BOTH))
    assert (record.model, record.class_name, record.step) == ("net", "LSTM", 1)
    assert record.num_earlier == record.place_changed
    assert record.num_changed > 1
    assert record.place.source == "return self.head(self.lstm(self.embed(x))[0])"


def test_a_sequence_of_one_element_alone_waits_for_another(run_cell):
    same = "x[0] = 3 if step == 1 else x[0]; " + WHOLE
    (record,) = recorded(run_cell, CELL.format(loss=same, **BOTH))
    assert record.step == 2


@pytest.mark.parametrize("loss", [WHOLE, SHORTER])
def test_one_that_reads_forward_does_not(run_cell, loss):
    noise = " + torch.randn(8)"  # in evaluation mode, too: both runs draw the same
    (record,) = recorded(run_cell, CELL.format(loss=loss, **(ONE | {"noise": noise})))
    assert (record.num_changed, record.class_name, record.place) == (0, "", None)


@pytest.mark.parametrize(
    "loss",
    [
        "loss = F.cross_entropy(net(x).transpose(1, 2), (x + 5) % 12)",
        "loss = F.cross_entropy(net(x).transpose(1, 2), x)",
        "loss = F.cross_entropy(net(x).mean(1), x[:, 0])",
        "x[:] = 3; loss = F.cross_entropy(net(x[:, :-1]).transpose(1, 2), x[:, 1:])",
        "loss = F.cross_entropy(net(x[:, :3]).transpose(1, 2), x[:, 1:4])",
        "net.eval(); loss = F.cross_entropy(net(x[:, :-1]).transpose(1, 2), x[:, 1:])",
    ],
    ids=["other targets", "the same", "one a sequence", "all alike", "too short", "in evaluation mode"],
)
def test_where_targets_are_not_what_follows_nothing_is_tried(run_cell, loss):
    assert recorded(run_cell, CELL.format(loss=loss, **BOTH)) == []


TWO = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(12, 8), nn.Linear(8, 12)

    def forward(self, x, targets=None):
        weights = torch.softmax(self.embed(x) @ self.embed(x).transpose(1, 2){mask}, dim=-1)
        logits = self.head(weights @ self.embed(x)).view(-1, 12)
        return logits, None if targets is None else F.cross_entropy(logits, targets.reshape(-1))

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x = torch.randint(0, 12, (4, 10))
    _, loss = net(x[:, :-1], x[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_network_may_be_given_its_targets_and_give_places_of_all_sequences_together(run_cell):
    (record,) = recorded(run_cell, TWO.format(mask=""))
    assert record.place_changed == 8
    assert record.num_changed > 1
    assert "softmax" in record.place.source
    (record,) = recorded(run_cell, TWO.format(mask=" + torch.full((9, 9), -1e9).triu(1)"))
    assert record.num_changed == 0


def test_what_is_trained_and_drawn_is_the_same_and_so_is_the_mode(run_cell):
    cell = CELL.format(loss=WHOLE, **BOTH) + "left = torch.rand(3), net.training, net.lstm.training\n"
    _, watched = run_cell(cell)
    namespace = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    torch.manual_seed(0)
    exec(cell, namespace)  # noqa: S102 - it is ours
    assert torch.equal(watched["left"][0], namespace["left"][0])
    assert watched["left"][1:] == (True, True)
    assert torch.equal(watched["net"].lstm.weight_hh_l0, namespace["net"].lstm.weight_hh_l0)


def test_a_forward_that_others_would_notice_is_not_run_again(run_cell):
    counting = CELL.replace("        return self.head", "        calls.append(1)\n        return self.head")
    run, names = run_cell("calls = []\n" + counting.format(loss=WHOLE, **BOTH))
    assert run.of(ForesightRecord) == []
    assert len(names["calls"]) == 6


def test_few_sequences_are_copied(run_cell, monkeypatch):
    copied = []
    monkeypatch.setattr("torchmagic.probes.foresight._last_predicted", lambda rows, *_: copied.append(len(rows)))
    run_cell(CELL.format(loss=WHOLE, **BOTH).replace("range(6)", "range(12)"))
    assert copied == [2] * MOST_COPIES


ROUTED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.one, self.head = nn.Embedding(12, 8), nn.Linear(8, 8), nn.Linear(8, 12)
        nn.init.zeros_(self.head.weight), nn.init.zeros_(self.head.bias)

    def forward(self, x):
        h = self.embed(x)
        h = self.one(h) if {routed} else h
        return self.head(h + h.mean(1, keepdim=True))

net = Net()
opt = torch.optim.SGD(net.parameters(), lr={lr})
for step in range(4):
    x = torch.randint(0, 12, (4, 10))
    x[0, 9], x[0, 0] = 3, 4
    loss = F.cross_entropy(net(x)[:, :-1].transpose(1, 2), x[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_an_output_of_zeros_says_nothing_and_what_is_called_may_differ(run_cell):
    (record,) = recorded(run_cell, ROUTED.format(routed="True", lr=0.0))
    assert (record.num_changed, record.change) == (0, 0.0)
    (record,) = recorded(run_cell, ROUTED.format(routed="x[0, 9] == 3", lr=1.0))
    assert record.num_changed > 1
    assert record.class_name == "Net"
