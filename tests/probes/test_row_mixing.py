"""This file tests the trial whether the rows of a batch stay apart, and that nobody can tell that it was made."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.records.structure import MixedRowsRecord

CELL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)
        self.drop, self.calls = nn.Dropout(0.5), 0
    def forward(self, x):
        h = self.drop(self.norm(torch.relu(self.body(x))))
        {mix}
        return self.head(h)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
draws = []
for step in range(4):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn({rows}, 4)), torch.randint(0, 3, ({rows},))).backward()
    opt.step()
    draws.append(torch.rand(1).item())
"""


def mixed(run_cell, mix="pass", rows=12, **settings):
    run, names = run_cell(CELL.format(mix=mix, rows=rows), **settings)
    return run.of(MixedRowsRecord), names


@pytest.mark.parametrize("mix", ["h = h - h.mean(0)", "h = h * torch.softmax(h, dim=0)", "h = h.flip(0)"])
def test_rows_that_reach_each_other_are_told_with_the_line(run_cell, mix):
    ((found,), _) = mixed(run_cell, mix)
    assert (found.module, found.step, found.num_rows) == ("net", 1, 5)
    assert found.num_changed >= 1
    assert found.change > 0
    assert found.place.source == mix


@pytest.mark.parametrize(
    "mix", ["pass", "h = h - h.mean(1, keepdim=True)", "h = h * torch.softmax(h, dim=1)", "h = h + torch.randn_like(h)"]
)
def test_batch_norm_and_dropout_and_what_stays_in_a_row_do_not_mix(run_cell, mix):
    assert mixed(run_cell, mix)[0] == []


@pytest.mark.parametrize("mix", ["seen.append(h)", "self.calls += 1", "h = h + next(noise)"])
def test_a_forward_that_would_be_noticed_is_not_run_again(run_cell, mix):
    names = {"seen": [], "noise": iter(range(9))}
    found, names = mixed(run_cell, f"{mix}; h = h - h.mean(0)", names=names)
    assert found == []
    assert len(names["seen"]) in (0, 4)
    assert names["net"].calls in (0, 4)


def test_a_batch_of_few_rows_is_left_alone(run_cell):
    assert mixed(run_cell, "h = h - h.mean(0)", rows=4)[0] == []


def test_the_trial_changes_no_number(run_cell):
    found, watched = mixed(run_cell, "h = h - h.mean(0)")
    assert found
    bare = {"nn": nn, "F": functional, "torch": torch}
    torch.manual_seed(0)
    exec(CELL.format(mix="h = h - h.mean(0)", rows=12), bare)  # noqa: S102 - the source is ours
    assert watched["draws"] == bare["draws"]
    assert watched["net"].training
    expected = bare["net"].state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in watched["net"].state_dict().items())


TAGGER = """
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.out = nn.Embedding(9, 6), nn.LSTM(6, 6), nn.Linear(6, 3)
    def forward(self, words):
        hidden, _ = self.lstm({embedded}.view(len(words), 1, -1))
        return self.out(hidden.view(len(words), -1))
net = Tagger()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for words, tags in {sentences}:
    opt.zero_grad()
    F.cross_entropy(net(words), tags).backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "names",
    [
        {
            "embedded": "self.embedding(words)",
            "sentences": "[(torch.arange(5) + i, torch.arange(5) % 3) for i in range(4)]",
        },
        {"embedded": "words", "sentences": "[(torch.randn(5, 6), torch.arange(5) % 3) for i in range(4)]"},
    ],
)
def test_the_words_of_one_sentence_may_reach_each_other(run_cell, names):
    run, _ = run_cell(TAGGER.format(**names))
    assert run.of(MixedRowsRecord) == []


def test_samples_that_a_loader_put_together_may_not_be_the_steps_of_a_sequence(run_cell):
    loader = "list_of = torch.utils.data.TensorDataset(torch.randn(48, 6), torch.arange(48) % 3)\n"
    cell = TAGGER.format(embedded="words", sentences="torch.utils.data.DataLoader(list_of, 12, shuffle=True)")
    (found,) = run_cell(loader + cell)[0].of(MixedRowsRecord)
    assert found.module == "net.lstm"


@pytest.mark.filterwarnings("ignore:.*nested tensors is in prototype:UserWarning")
@pytest.mark.parametrize("level", ["basic", "advanced", "expert"])
@pytest.mark.parametrize("kind", ["ragged", "sparse", "lazy"])
def test_what_cannot_be_taken_apart_into_rows_is_left_alone(run_cell, kind, level):
    run, _ = run_cell(
        f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(6, 3)
            def forward(self, x, *others):
                if x.is_nested:
                    x = torch.nested.to_padded_tensor(x, 0.0)
                return self.linear(x.to_dense() if x.is_sparse else x)
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(12):
            x, others = torch.randn(16, 6), ()
            if {kind!r} == "ragged":
                x = torch.nested.nested_tensor([row for row in x])
            elif {kind!r} == "sparse":
                x = x.to_sparse()
            else:
                others = (nn.parameter.UninitializedParameter(),)
            opt.zero_grad()
            F.cross_entropy(net(x, *others), torch.randint(0, 3, (16,))).backward()
            opt.step()
        """,
        level=level,
    )
    assert run.steps == 12
