"""This file tests listeners: who hears an event, who rests until when, and who wakes them."""

import pytest

from torchmagic.probes.listeners import NEVER, Listeners


class Ear:
    """Hears, and remembers nothing."""

    def hear(self):
        """Be a listener."""


@pytest.fixture
def both():
    listeners, first, second = Listeners(("step", "loss")), Ear(), Ear()
    for ear in (first, second):
        listeners.add("step", ear.hear)
    listeners.add("loss", first.hear)
    return listeners, first, second


def test_a_rest_lasts_until_its_step_and_keeps_the_order(both):
    listeners, first, second = both
    listeners.step = 3
    listeners.rest(first, until=8)
    assert listeners.awake == {"step": [second.hear], "loss": []}
    assert (listeners.rests(first), listeners.rests(second), listeners.next_wake) == (True, False, 8)
    listeners.step = 7
    listeners.wake()
    assert listeners.rests(first)
    listeners.step = 8
    listeners.wake()
    assert listeners.awake == {"step": [first.hear, second.hear], "loss": [first.hear]}
    assert listeners.next_wake == NEVER


def test_a_rest_until_the_next_step_is_none(both):
    listeners, first, _ = both
    listeners.step = 3
    listeners.rest(first, until=4)
    assert not listeners.rests(first)


def test_something_new_wakes_everybody_and_one_can_be_woken_alone(both):
    listeners, first, second = both
    for ear in (first, second):
        listeners.rest(ear, until=100)
    listeners.wake_up(second)
    assert listeners.awake["step"] == [second.hear]
    listeners.wake(everybody=True)
    assert listeners.awake["step"] == [first.hear, second.hear]


def test_who_was_dropped_hears_nothing_even_after_a_rest(both):
    listeners, first, second = both
    listeners.rest(first, until=100)
    listeners.drop(first)
    listeners.wake(everybody=True)
    assert listeners.awake == {"step": [second.hear], "loss": []}


def test_a_new_model_late_in_a_run_wakes_who_rests(run_cell):
    from torchmagic.records.device import DeviceRecord  # noqa: PLC0415 - used once

    run, _ = run_cell(
        """
        def train(net, steps):
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(steps):
                opt.zero_grad()
                net(torch.randn(8, 4)).sum().backward()
                opt.step()
        first, second = nn.Linear(4, 3), nn.Linear(4, 2)
        train(first, 40)
        train(second, 3)
        """
    )
    assert [(record.model, record.step <= 42) for record in run.of(DeviceRecord)] == [("first", True), ("second", True)]


def test_who_rests_or_wakes_while_a_step_is_closed_is_settled_as_the_next_one_begins(both):
    listeners, first, second = both
    listeners.rest(second, until=5)
    listeners.closing = True
    listeners.rest(first, until=9)
    listeners.closing, listeners.step = False, 5
    listeners.wake()
    assert listeners.awake["step"] == [second.hear]


def test_who_is_summoned_hears_what_is_under_way_after_the_others_and_what_follows(both):
    listeners, first, second = both
    listeners.rest(first, until=50)
    listeners.under_way = heard = listeners.awake["step"]
    listeners.summon(first, "step")
    listeners.summon(second, "step")
    assert heard == [second.hear, first.hear]
    assert listeners.awake == {"step": [first.hear, second.hear], "loss": [first.hear]}
