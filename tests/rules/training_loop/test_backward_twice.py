"""A graph that is used twice is told where it comes from."""

import pytest

from torchmagic.records.crash import CrashKind, CrashSiteRecord, Reuse, ReusedGraphRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.backward_twice import backward_twice
from torchmagic.session.run import Run

BACKWARD = Place(file="<cell>", line=9, source="loss.backward()")
MADE = Place(file="<cell>", line=4, source="out, hidden = rnn(x, hidden)")


def finding(reuse, *, name="hidden", made=MADE, loss="loss", step=0, place=BACKWARD):
    run = Run()
    message = "Trying to backward through the graph a second time"
    site = CrashSiteRecord(
        problem=CrashKind.BACKWARD_TWICE, error="RuntimeError", message=message, place=place, step=step
    )
    run.records.append(site)
    if reuse is not None:
        run.records.append(ReusedGraphRecord(reuse=reuse, name=name, made=made, backward=BACKWARD, loss=loss))
    (found,) = backward_twice(run)
    return found


@pytest.mark.parametrize(
    ("reuse", "line"),
    [(Reuse.CARRIED, 4), (Reuse.OUTSIDE, 4), (Reuse.SHARED, 9), (Reuse.AGAIN, 9), (Reuse.UNKNOWN, 9)],
)
def test_the_line_is_the_one_to_change(reuse, line):
    found = finding(reuse)
    assert found.line == line
    assert found.evidence["backward"] == "line 9: loss.backward()"


def test_a_carried_state_is_detached():
    assert finding(Reuse.CARRIED).fix.startswith("hidden = hidden.detach()")


def test_losses_of_one_optimizer_are_added_and_those_of_two_are_not():
    assert finding(Reuse.SHARED, name="score").fix.startswith("add the losses")
    assert finding(Reuse.SHARED, name="score", step=1).fix.startswith("compute score anew")


def test_a_second_derivative_keeps_the_graph_for_it():
    place = Place(file="<cell>", line=9, source="du_dt = torch.autograd.grad(u.sum(), t)[0]")
    for reuse in (Reuse.SHARED, Reuse.AGAIN, Reuse.UNKNOWN):
        assert "create_graph=True" in finding(reuse, name="u", place=place).fix
    made = Place(file="<cell>", line=4, source="slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]")
    assert "create_graph" not in finding(Reuse.OUTSIDE, name="slope", made=made).fix
    assert "create_graph" not in finding(Reuse.SHARED, name="u").fix


def test_a_sum_of_losses_is_told_as_one():
    assert "adds up the losses" in finding(Reuse.CARRIED, name="total", loss="total").title


def test_without_a_reason_the_backward_is_told():
    assert finding(None).line == 9


def test_a_place_that_is_not_known_leaves_the_backward():
    assert finding(Reuse.CARRIED, made=None).line == 9


def test_another_exception_is_silent():
    assert list(backward_twice(Run())) == []
