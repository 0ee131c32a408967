"""A long profile: what reading it costs, in processor time and in memory, far below what a user would wait for."""

import time
import tracemalloc
from itertools import islice

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, Event, ModuleSite
from torchmagic.profiling.ordered import Ordered
from torchmagic.records.place import Place

NODE = "autograd::engine::evaluate_function: "
# A million in 5 s are 5 µs each, torch's own reader included, which takes 1 to 2 of them; see
# benchmarks/profile_reading.py. A busy machine takes twice as long.
SECONDS_EACH = 4e-6
BYTES_EACH = 100


def a_long_profile():
    """Yield the events of many small steps, as torch's profiler has them."""
    time_, sequence = 0, 0
    while True:
        yield Event(time_, time_ + 90, "tm:l:0", 1)
        yield Event(time_ + 1, time_ + 80, "tm:m:0", 1)
        for number in range(4):
            start = time_ + 2 + 18 * number
            yield Event(start, start + 16, "aten::linear", 1, sequence + number)
            yield Event(start + 1, start + 4, "aten::t", 1, sequence + number)
            yield Event(start + 5, start + 15, "aten::addmm", 1, sequence + number)
        yield Event(time_ + 100, time_ + 190, "tm:p:backward", 1)
        for number in range(4):
            start = time_ + 102 + 18 * number
            more = {"sequence": sequence + 3 - number, "forward_thread": 1}
            yield Event(start, start + 16, NODE + "AddmmBackward0", 1, **more)
            yield Event(start + 1, start + 15, "AddmmBackward0", 1, **more)
            yield Event(start + 2, start + 14, "aten::mm", 1)
        time_, sequence = time_ + 200, sequence + 4


def collected(count):
    events = list(islice(a_long_profile(), count))
    return Collected(
        events=iter(events),
        begin=0,
        end=max(event.end for event in events),
        modules=[ModuleSite("net", "", "Net")],
        places=[Place(file="cell", line=1)],
    )


def test_reading_takes_microseconds_an_event():
    count, window = 100_000, collected(100_000)
    began = time.process_time()
    records = attribute(window)
    spent = time.process_time() - began
    assert records[0].events == count
    assert spent < SECONDS_EACH * count


def test_events_take_little_room():
    count, window = 50_000, collected(50_000)
    tracemalloc.start()
    ordered = Ordered(window)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ordered.count == count
    assert peak < 3 * BYTES_EACH * count
    assert sum(1 for _ in ordered) == count


def test_there_are_as_many_sums_as_places_however_many_events_there_are():
    few, many = (attribute(collected(count))[2] for count in (2_000, 20_000))
    assert len(few.operators) == len(many.operators)
    assert {each.name for each in few.operators} == {each.name for each in many.operators}
