"""This file tests that signals wait while something of ours comes to an end, and are told from failures of ours."""

import functools
import signal
import threading

import pytest

from torchmagic.session.interrupts import Postponed, pass_on


class TimedOutError(Exception):
    """What a handler raises."""


def raising(number, frame):
    raise TimedOutError


class Raises:
    def __call__(self, *_):
        raise TimedOutError

    def method(self, *_):
        raise TimedOutError


@pytest.fixture
def handle():
    """Return a function that sets the handler of an alarm; it is taken back at the end."""
    before = signal.getsignal(signal.SIGALRM)
    yield functools.partial(signal.signal, signal.SIGALRM)
    signal.signal(signal.SIGALRM, before)


def test_a_signal_waits_for_the_end(handle):
    came = []
    handle(lambda number, _: came.append(number))
    with Postponed():
        signal.raise_signal(signal.SIGALRM)
        assert came == []
    assert came == [signal.SIGALRM]
    signal.raise_signal(signal.SIGALRM)
    assert len(came) == 2


def test_what_a_handler_raises_is_raised_at_the_end(handle):
    handle(raising)
    with pytest.raises(TimedOutError), Postponed():
        signal.raise_signal(signal.SIGALRM)
    assert signal.getsignal(signal.SIGALRM) is raising


def test_an_interrupt_is_raised_at_the_end_or_not_where_nothing_is_left_to_be_ended(handle):
    with pytest.raises(KeyboardInterrupt), Postponed():
        signal.raise_signal(signal.SIGINT)
    with Postponed(interrupts=False):
        signal.raise_signal(signal.SIGINT)
    handle(raising)
    with pytest.raises(TimedOutError), Postponed(interrupts=False):  # the user's own handler is always called
        signal.raise_signal(signal.SIGALRM)


def test_a_handler_that_is_set_meanwhile_stays(handle):
    handle(raising)
    with Postponed():
        handle(signal.SIG_IGN)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN


def test_another_thread_leaves_handlers_alone(handle):
    handle(raising)
    seen = []

    def work():
        with Postponed():
            seen.append(signal.getsignal(signal.SIGALRM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [raising]


@pytest.mark.parametrize(
    "handler", [raising, Raises(), Raises().method, functools.partial(raising), functools.partial(Raises())]
)
def test_an_error_of_a_handler_is_passed_on_and_others_are_not(handle, handler):
    handle(handler)
    try:
        signal.raise_signal(signal.SIGALRM)
    except TimedOutError as error:
        with pytest.raises(TimedOutError):
            pass_on(error)
    pass_on(TimedOutError())
