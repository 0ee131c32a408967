"""This file tests the ranges by what torch's profiler notes down of them."""

import threading
from collections import Counter
from contextlib import contextmanager

import pytest
import torch

from torchmagic.profiling.kineto import Kineto
from torchmagic.profiling.ranges import Ranges
from torchmagic.profiling.settings import ProfileSettings


class Noted:
    """Ranges under torch's profiler, and what it noted down of them."""

    def __init__(self, **options):
        self.ranges = Ranges(**options)
        self.kineto = Kineto(ProfileSettings())

    @contextmanager
    def recording(self):
        self.ranges.open()
        self.kineto.start()
        self.ranges.record()
        yield self.ranges
        self.ranges.shut()
        assert self.kineto.stop()

    @property
    def events(self):
        return [each for each in self.kineto.events(0, 1 << 62) if each.name.startswith("tm:")]

    @property
    def counts(self):
        return dict(Counter(each.name for each in self.events))


def test_a_range_is_noted_each_time_it_is_entered():
    noted = Noted()
    with noted.recording() as ranges:
        line = ranges.make("tm:l:1")
        for _ in range(3):
            with line:
                torch.ones(2)
    assert noted.counts == {"tm:l:1": 3}
    assert line.count == 3


def test_a_range_may_be_entered_while_it_is_entered():
    noted = Noted()
    with noted.recording() as ranges:
        line = ranges.make("tm:l:1")

        def down(depth):
            with line:
                if depth:
                    down(depth - 1)

        down(4)
    assert noted.counts == {"tm:l:1": 5}
    outer, *inner = noted.events
    assert all(outer.start <= each.start and each.end <= outer.end for each in inner)


def test_a_range_ends_where_an_exception_leaves_it():
    noted = Noted()
    with noted.recording() as ranges:
        line, after = ranges.make("tm:l:1"), ranges.make("tm:l:2")
        with pytest.raises(KeyError), line:
            raise KeyError
        with after:
            pass
        assert not ranges.standing
    first, second = noted.events
    assert first.end <= second.start


def test_a_range_falls_silent_after_so_many_entries_and_goes_on_counting():
    noted = Noted(most=10)
    with noted.recording() as ranges:
        line = ranges.make("tm:l:7")
        for _ in range(25):
            with line:
                pass
        assert ranges.too_many("tm:l:") == {7: 25}
    assert noted.counts == {"tm:l:7": 10}


def test_a_range_that_falls_silent_within_itself_ends_what_it_began():
    noted = Noted(most=2)
    with noted.recording() as ranges:
        line = ranges.make("tm:l:1")
        with line, line, line, line:
            pass
        assert not ranges.standing
    assert noted.counts == {"tm:l:1": 2}


def test_somebody_is_asked_now_and_then_whether_it_is_too_much():
    asked = []
    ranges = Ranges(look=lambda: asked.append(line.count))
    line = ranges.make("tm:l:1")
    ranges.open()
    for _ in range(600):
        with line:
            pass
    assert asked == [257, 513]


def test_ranges_that_are_shut_within_one_leave_nothing_standing():
    ranges = Ranges()
    ranges.look = ranges.shut
    line = ranges.make("tm:l:1")
    ranges.open()
    for _ in range(300):
        with line:
            pass
    assert not ranges.standing
    assert line.count == 257


def test_other_threads_pass_through():
    noted = Noted()
    with noted.recording() as ranges:
        line = ranges.make("tm:l:1")

        def enter():
            with line:
                pass

        with line:
            thread = threading.Thread(target=enter)
            thread.start()
            thread.join()
    assert noted.counts == {"tm:l:1": 1}


def test_a_range_around_a_generators_yield_ends_out_of_turn():
    noted = Noted()
    with noted.recording() as ranges:
        inner, outer = ranges.make("tm:l:1"), ranges.make("tm:l:2")

        def give():
            with inner:
                yield

        given = give()
        next(given)
        with outer:
            given.close()
            torch.ones(2)
        assert not ranges.standing
    first, second = noted.events
    assert (first.name, second.name) == ("tm:l:1", "tm:l:2")
    assert second.start <= first.end <= second.end


def test_a_range_under_way_is_noted_on_both_sides_of_a_pause_and_what_ran_within_it_is_not():
    noted = Noted()
    with noted.recording() as ranges:
        whole, within = ranges.make("tm:l:1"), ranges.make("tm:l:2")
        with whole:
            ranges.pause()
            with within:
                pass
            ranges.record()
    assert noted.counts == {"tm:l:1": 2}


def test_a_range_under_way_when_all_are_shut_ends_there_and_only_once():
    noted = Noted()
    ranges = noted.ranges
    line = ranges.make("tm:l:1")
    with noted.recording():
        line.__enter__()
    line.__exit__()
    with line:
        pass
    assert noted.counts == {"tm:l:1": 1}
    assert line.count == 1


def test_a_mark_is_noted_as_a_moment():
    noted = Noted()
    with noted.recording() as ranges:
        ranges.mark("tm:s:4")
    assert noted.counts == {"tm:s:4": 1}
    noted.ranges.mark("tm:s:5")
    assert noted.counts == {"tm:s:4": 1}
