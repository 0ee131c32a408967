"""This file tests that tensors which the notebook keeps by itself are found and named."""

import sys

import pytest
import torch

from torchmagic.records.memory import HolderRecord

LARGE = 2**20


def holders(run):
    return run.of(HolderRecord)


@pytest.fixture
def no_traceback(monkeypatch):
    """Start without the traceback that another test left."""
    for name in ("last_exc", "last_value", "last_traceback"):
        monkeypatch.delattr(sys, name, raising=False)


@pytest.mark.usefixtures("no_traceback")
def test_an_output_that_only_the_notebook_keeps_is_named_with_its_bytes(run_cell):
    big = torch.zeros(LARGE)
    run, _ = run_cell("pass", names={"Out": {3: big, 4: "text"}, "_": big, "_3": big})
    (record,) = holders(run)
    assert (record.name, record.keeper, record.num_bytes) == ("Out[3]", "output", 4 * LARGE)
    assert (record.shape, record.dtype, record.device) == ((LARGE,), "float32", "cpu")
    assert (record.has_graph, record.also) == (False, "")


@pytest.mark.usefixtures("no_traceback")
def test_a_view_of_a_large_tensor_counts_all_that_it_keeps(run_cell):
    run, _ = run_cell("pass", names={"Out": {1: torch.zeros(LARGE)[:2]}})
    assert holders(run)[0].num_bytes == 4 * LARGE


@pytest.mark.usefixtures("no_traceback")
def test_the_users_own_variable_that_holds_the_same_bytes_is_named(run_cell):
    big = torch.zeros(LARGE)
    run, _ = run_cell("pass", names={"Out": {3: big.view(2, -1)}, "weights": big})
    assert holders(run)[0].also == "weights"


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize("name", ["_", "__", "___", "_12"])
def test_the_underscores_are_looked_at(run_cell, name):
    run, _ = run_cell("pass", names={name: (torch.zeros(LARGE), 1)})
    assert holders(run)[0].name == name


@pytest.mark.usefixtures("no_traceback")
def test_small_outputs_are_silent_unless_they_keep_a_graph(run_cell):
    weight = torch.zeros(8, requires_grad=True)
    run, _ = run_cell("pass", names={"Out": {1: torch.zeros(8), 2: weight.exp().sum(), 3: weight}})
    (record,) = holders(run)
    assert (record.name, record.has_graph) == ("Out[2]", True)
    assert record.num_bytes == 4 + 8 * 4


@pytest.mark.usefixtures("no_traceback")
def test_the_largest_come_first_and_not_too_many(run_cell):
    run, _ = run_cell("pass", names={"Out": {i: torch.zeros(LARGE + i) for i in range(20)}})
    assert len(holders(run)) == 16
    assert holders(run)[0].name == "Out[19]"


def failed(size):
    """Raise as a cell does, and return the exception with its traceback."""

    def forward(x):
        hidden = x + 1
        raise ValueError(hidden.shape)

    try:
        forward(torch.zeros(size))
    except ValueError as error:
        return error


def test_the_last_traceback_is_looked_into(run_cell, monkeypatch):
    error = failed(LARGE)
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    monkeypatch.setattr(sys, "last_exc", error, raising=False)
    monkeypatch.setattr(sys, "last_traceback", error.__traceback__, raising=False)
    run, _ = run_cell("pass")
    assert {(record.name, record.keeper) for record in holders(run)} == {
        ("forward.x", "traceback"),
        ("forward.hidden", "traceback"),
    }


def test_the_notebooks_own_names_in_the_last_traceback_are_left_alone(run_cell, monkeypatch):
    try:
        exec(compile("raise ValueError", "<cell>", "exec"), {"big": torch.zeros(LARGE)})  # noqa: S102 - ours
    except ValueError as error:
        monkeypatch.setattr(sys, "last_traceback", error.__traceback__.tb_next, raising=False)
    run, _ = run_cell("pass")
    assert holders(run) == []


def test_a_small_traceback_is_silent(run_cell, monkeypatch):
    monkeypatch.setattr(sys, "last_traceback", failed(4).__traceback__, raising=False)
    run, _ = run_cell("pass")
    assert holders(run) == []


@pytest.mark.usefixtures("no_traceback")
def test_a_healthy_notebook_is_silent(run_cell):
    run, _ = run_cell("big = torch.zeros(2**20)", names={"Out": {1: 5, 2: [1, 2]}, "_": 5, "In": ["", "big"]})
    assert holders(run) == []


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.usefixtures("no_traceback")
def test_strange_values_are_passed_over(run_cell):
    strange = [
        torch.empty(0), torch.empty((), device="meta"), torch.eye(3).to_sparse(), torch.nn.LazyLinear(3).weight,
        torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), torch.ones(3, dtype=torch.complex64), object(),
    ]  # fmt: skip
    run, _ = run_cell("pass", names={"Out": dict(enumerate(strange)), "_": strange})
    assert holders(run) == []


@pytest.mark.usefixtures("no_traceback")
def test_a_variable_of_the_users_called_underscore_is_no_output(run_cell):
    run, _ = run_cell("_, loss = torch.zeros(2**20), 0", names={"Out": {}})
    assert holders(run) == []
