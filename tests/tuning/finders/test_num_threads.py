"""The number of threads, on work whose time is known."""

import time

import pytest
import torch
from torch import nn

from torchmagic import find_num_threads
from torchmagic.tuning.copies import Training


def divided():
    """Wait as if work were divided among threads."""
    time.sleep(0.02 / torch.get_num_threads())


def hampered():
    """Wait as if each thread were in the way of the others."""
    time.sleep(0.01 * torch.get_num_threads())


def test_more_threads_are_taken_where_they_are_faster(same_process):
    now = torch.get_num_threads()
    with same_process():
        found = find_num_threads(divided, numbers=[2 * now, 4 * now])
    assert found.recommended == {"num_threads": 4 * now}
    assert found.code == f"torch.set_num_threads({4 * now})"
    assert [row.setting["num_threads"] for row in found.rows] == [now, 2 * now, 4 * now]
    assert f"Take {4 * now} threads: a step takes " in str(found)
    assert found.rows[0].median > 1.5 * found.rows[1].median > 2.0 * found.rows[2].median
    assert f"torch.set_num_threads({4 * now})" in found._repr_html_()


def test_the_present_number_is_kept_where_no_other_is_faster():
    now = torch.get_num_threads()
    found = find_num_threads(hampered, numbers=[2 * now])
    assert found.recommended == {"num_threads": now}
    assert found.code == ""
    assert "no other number is faster beyond noise" in str(found)


def test_the_present_number_is_kept_where_a_smaller_one_is_the_same():
    now = torch.get_num_threads()
    torch.set_num_threads(now + 1)
    try:
        found = find_num_threads(lambda: time.sleep(0.01), numbers=[now], time_limit=3)
    finally:
        torch.set_num_threads(now)
    assert found.recommended in ({"num_threads": now + 1}, None)  # a busy machine leaves it untold


class Odd(nn.Module):
    """Switches what is global, and fails on other threads than one number."""

    def __init__(self):
        super().__init__()
        self.layers, self.only = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 2)), None

    def forward(self, x):
        torch.manual_seed(4)
        if self.only not in (None, torch.get_num_threads()):
            torch.set_num_threads(self.only)
            raise RuntimeError("not on so many")
        return self.layers(x)


@pytest.mark.parametrize("trains", [True, False], ids=["training", "asked"])
def test_nothing_of_the_users_is_changed(trains, state_of, are_equal, same_process):
    torch.manual_seed(0)
    model, now = Odd(), torch.get_num_threads()
    batch = torch.randn(6, 4), torch.randint(0, 2, (6,))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 4)).sum().backward()
    optimizer.step()
    training = Training(model=model, optimizer=optimizer, criterion=nn.CrossEntropyLoss())
    before = state_of(training)
    given = {"optimizer": optimizer, "criterion": nn.CrossEntropyLoss()} if trains else {"criterion": nn.MSELoss()}
    with same_process():
        found = find_num_threads(model, batch, numbers=[now + 1], time_limit=2, **given)
    assert are_equal(state_of(training), before)
    assert all(row.times for row in found.rows)
    model.only = now
    with same_process():
        found = find_num_threads(model, batch, numbers=[now + 1], time_limit=2, **given)
    assert found.rows[1].failure == "RuntimeError: not on so many"
    assert found.recommended is None


def test_what_a_step_sets_itself_is_put_back(same_process):
    now = torch.get_num_threads()
    with same_process():
        find_num_threads(lambda: torch.set_num_threads(now + 2), numbers=[now], time_limit=0.2)


def test_where_every_step_fails_the_reason_is_told():
    found = find_num_threads(nn.Linear(3, 2), torch.randn(2, 4), time_limit=1)
    assert found.recommended is None
    assert "No step could be timed: RuntimeError: mat1 and mat2" in str(found)


def test_the_numbers_are_powers_of_two_up_to_the_cores_and_the_present_one():
    found = find_num_threads(lambda: None, time_limit=1)
    numbers = [row.setting["num_threads"] for row in found.rows]
    assert {1, torch.get_num_threads()} <= set(numbers)
    assert numbers == sorted(set(numbers))


def test_a_float_that_a_step_returns_is_not_its_time():
    found = find_num_threads(lambda: time.sleep(0.002) or 1e9, numbers=[1], time_limit=1)
    assert all(0.001 < row.median < 1 for row in found.rows if row.times)


@pytest.mark.parametrize(
    ("args", "fields", "error", "message"),
    [
        ((nn.Linear(2, 2),), {}, TypeError, "a model came without a batch"),
        ((3,), {}, TypeError, "a int came; wanted a model with a batch, or a function"),
        ((lambda x: x,), {}, TypeError, "cannot be called without arguments"),
        ((divided, torch.zeros(2)), {}, TypeError, "a function came with a batch"),
        ((divided,), {"numbers": []}, ValueError, "numbers=.. came; wanted numbers of threads from 1 on"),
        ((divided,), {"numbers": [0]}, ValueError, "numbers=.0. came"),
        ((divided,), {"time_limit": -1}, ValueError, "time_limit=-1 came"),
        ((nn.Linear(2, 2, device="meta"), torch.zeros(1, 2)), {}, ValueError, "the model is on meta"),
    ],
    ids=["no batch", "no work", "arguments", "batch", "none", "zero", "limit", "device"],
)
def test_bad_input_is_one_clear_line(args, fields, error, message):
    with pytest.raises(error, match=message) as raised:
        find_num_threads(*args, **fields)
    assert "\n" not in str(raised.value)
