"""This file tests what is seen of states that are kept, loaded and saved."""

import gc
import warnings
import weakref

import pytest
import torch
from torch import nn

from torchmagic.debuggers.watching import watch
from torchmagic.probes import states
from torchmagic.records.state import AliasedStateRecord

SETUP = """
import copy
import io
torch.manual_seed(0)
net, x = nn.Linear(2, 1), torch.ones(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
file = io.BytesIO()
def step(num=1):
    for _ in range(num):
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()
"""


@pytest.fixture
def told(run_cell):
    def tell(source):
        run, _ = run_cell(SETUP + source, only=("gradients",))
        return run.of(AliasedStateRecord)

    return tell


def test_a_kept_state_that_is_loaded_after_more_steps_is_told(told):
    (record,) = told("step(2)\nkept = net.state_dict()\nstep(3)\nnet.load_state_dict(kept)")
    assert (record.how, record.model, record.source) == ("loaded", "net", "net")
    assert (record.taken_step, record.step, record.times) == (2, 5, 1)
    assert record.taken.source == "kept = net.state_dict()"
    assert record.place.source == "net.load_state_dict(kept)"


@pytest.mark.parametrize(
    "kept",
    [
        "dict(net.state_dict())",
        "copy.copy(net.state_dict())",
        "{k: v.cpu() for k, v in net.state_dict().items()}",
        "{'module.' + k: v for k, v in net.state_dict().items()}",
        "net.state_dict(keep_vars=True)",
    ],
)
def test_a_shallow_copy_is_none(told, kept):
    (record,) = told(f"step()\nkept = {kept}\nstep()\nnet.load_state_dict(kept, strict=False)")
    assert record.how == "loaded"


@pytest.mark.parametrize(
    "kept",
    [
        "copy.deepcopy(net.state_dict())",
        "{k: v.clone() for k, v in net.state_dict().items()}",
        "{k: v.double() for k, v in net.state_dict().items()}",
    ],
)
def test_a_copy_is_silent(told, kept):
    assert told(f"step()\nkept = {kept}\nstep()\nnet.load_state_dict(kept)\ntorch.save(kept, file)") == []


def test_a_state_that_is_put_back_at_once_is_silent(told):
    assert told("step()\nkept = net.state_dict()\nnet.load_state_dict(kept)\nstep()") == []


def test_a_state_that_is_changed_in_place_on_purpose_is_silent(told):
    change = "    state = net.state_dict()\n    state['weight'].mul_(0.9)\n    net.load_state_dict(state)\n"
    assert told("for _ in range(3):\n    step()\n" + change) == []


def test_a_state_that_was_overwritten_by_another_load_is_told(told):
    (record,) = told(
        "other = copy.deepcopy(net)\nstep()\nkept = net.state_dict()\n"
        "net.load_state_dict(other.state_dict())\nnet.load_state_dict(kept)"
    )
    assert (record.how, record.taken_step, record.step) == ("loaded", 1, 1)


def test_a_model_that_nobody_trains_may_be_loaded_again_and_again(told):
    loop = "for _ in range(3):\n    step()\n    fixed.load_state_dict(kept)\ntorch.save(kept, file)"
    assert told("step()\nfixed = nn.Linear(2, 1)\nkept = fixed.state_dict()\n" + loop) == []


def test_a_state_from_before_the_first_step_is_told_where_it_is_put_back(told):
    (record,) = told("kept = net.state_dict()\nstep()\nnet.load_state_dict(kept)")
    assert record.taken_step == 0


def test_a_state_from_before_the_first_step_may_be_saved_again_and_again(told):
    """A dictionary filled once and saved each epoch holds the newest weights, as is meant."""
    assert told("kept = {'net': net.state_dict()}\nfor _ in range(3):\n    step()\n    torch.save(kept, file)") == []


@pytest.mark.parametrize("saved", ["kept, file", "{'best': kept, 'epoch': 3}, file", "obj=[kept], f=file"])
def test_a_state_that_is_saved_after_more_steps_is_told(told, saved):
    (record,) = told(f"step()\nkept = net.state_dict()\nstep()\ntorch.save({saved})")
    assert (record.how, record.taken_step, record.step) == ("saved", 1, 2)


def test_a_state_that_is_saved_at_once_is_silent(told):
    assert told("step()\nkept = net.state_dict()\ntorch.save(kept, f=file)\nstep()") == []


def test_a_state_that_another_model_gets_late_is_told(told):
    (record,) = told("step()\nkept = net.state_dict()\nstep()\nbest = nn.Linear(2, 1)\nbest.load_state_dict(kept)")
    assert (record.how, record.model, record.source) == ("loaded", "best", "net")


def test_a_model_that_is_synchronised_is_silent(told):
    assert (
        told("other = copy.deepcopy(net)\nfor _ in range(4):\n    step()\n    other.load_state_dict(net.state_dict())")
        == []
    )


def test_one_model_of_two_names_is_told_as_it_recurs(told):
    loop = "for _ in range({}):\n    step()\n    other.load_state_dict(net.state_dict())"
    assert told("other = net\n" + loop.format(1)) == []
    (record,) = told("other = net\n" + loop.format(3))
    assert (record.how, record.model, record.source, record.times) == ("same", "other", "net", 2)


def test_a_state_of_which_most_was_replaced_is_silent(told):
    change = "kept.update({k: v.clone() for k, v in kept.items() if k != '0.weight'})"
    assert (
        told(
            "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            f"step()\nkept = net.state_dict()\n{change}\nstep()\nnet.load_state_dict(kept)\ntorch.save(kept, file)"
        )
        == []
    )


def test_a_model_that_has_no_plain_name_is_not_told_as_two(told):
    assert told("for _ in range(3):\n    step()\n    (net or x).load_state_dict(net.state_dict())") == []


def test_a_model_that_is_given_its_own_state_by_its_own_name_is_silent(told):
    assert told("for _ in range(3):\n    step()\n    net.load_state_dict(net.state_dict())") == []


def test_the_parts_of_a_model_are_no_states_of_their_own(told):
    (record,) = told(
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "step()\nkept = net.state_dict()\nstep()\nnet[0].state_dict()\nnet.load_state_dict(kept)"
    )
    assert (record.source, record.taken_step) == ("net", 1)


def test_lines_are_told_once_with_how_often(told):
    (record,) = told("kept = net.state_dict()\nfor _ in range(4):\n    step()\n    net.load_state_dict(kept)")
    assert (record.step, record.times) == (1, 4)


def test_lines_are_told_up_to_a_number(told, monkeypatch):
    monkeypatch.setattr(states, "MOST_LINES", 1)
    loads = "net.load_state_dict(kept)\nnet.load_state_dict(dict(kept))"
    (record,) = told(f"kept = net.state_dict()\nfor _ in range(2): step()\n{loads}")
    assert record.place.source == "net.load_state_dict(kept)"


def test_no_state_and_no_model_is_held():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch():
        net(torch.ones(1, 2)).sum().backward()
        opt.step()
        kept = net.state_dict()
        gone = [weakref.ref(net), weakref.ref(kept["weight"])]
        del net, opt, kept
        gc.collect()
        assert [each() for each in gone] == [None, None]


def test_arguments_by_position_are_warned_of_at_the_users_line():
    net = nn.Linear(2, 1)
    with watch(), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        state = net.state_dict({}, "net.")
    assert set(state) == {"net.weight", "net.bias"}
    assert [each.filename for each in seen] == [__file__]


def test_errors_of_a_load_and_of_a_file_are_torchs(tmp_path):
    net = nn.Linear(2, 1)
    with watch():
        with pytest.raises(RuntimeError, match="Missing key"):
            net.load_state_dict({})
        with pytest.raises(RuntimeError, match="does not exist"):
            torch.save(net.state_dict(), tmp_path / "nowhere" / "file.pt")
        torch.save(net.state_dict(), tmp_path / "file.pt")
    assert set(torch.load(tmp_path / "file.pt")) == {"weight", "bias"}
