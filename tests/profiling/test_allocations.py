"""Memory over a window: from changes written by hand, and of tensors whose bytes follow by arithmetic."""

import pytest

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, Event, ModuleSite
from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.place import Place
from torchmagic.records.profile import ProfileRecord

MODULES = [ModuleSite("net", "", "Net"), ModuleSite("net", "fc", "Linear")]
PLACES = [Place(file="cell", line=number) for number in (1, 2)]
END = 4000


def event(name, start, end, **more):
    return Event(start=start, end=end, name=name, thread=1, **more)


def change(time, size, address=0):
    return event("[memory]", time, time, bytes=size, correlation=address)


def read(*events, **more):
    options = {"modules": MODULES, "places": PLACES, "options": ("memory",), **more}
    records = attribute(Collected(events=events, begin=0, end=END, **options))
    return {type(record): record for record in records}


FORWARD_AND_BACKWARD = (
    event("tm:l:0", 0, 1000),
    event("tm:m:0", 10, 900),
    event("tm:m:1", 100, 500),
    event("aten::addmm", 200, 400, sequence=0),
    change(250, 4000),
    change(300, 600),  # room to work in
    change(390, -600),
    change(600, 80),
    change(950, -80),
    event("tm:l:1", 1000, 3000),
    event("autograd::engine::evaluate_function: AddmmBackward0", 1100, 2000, sequence=0, forward_thread=1),
    event("aten::mm", 1200, 1400),
    change(1300, 5000),
    change(1900, -4000),
    change(2500, -5000),
)


def test_what_lives_is_shown_by_the_phase_in_which_it_was_made():
    record = read(*FORWARD_AND_BACKWARD, step_ends=[END])[AllocationsRecord]
    last = dict(zip(record.seconds, zip(*record.phases.values(), strict=True), strict=True))
    at = {round(moment * 1e9): dict(zip(record.phases, row, strict=True)) for moment, row in last.items()}
    assert at[1300] == {"before": 0, "forward": 4000, "backward": 5000}
    assert at[1900] == {"before": 0, "forward": 0, "backward": 5000}
    assert at[2500] == {"before": 0, "forward": 0, "backward": 0}


def test_the_peak_says_who_ran_and_who_held_what():
    records = read(*FORWARD_AND_BACKWARD, step_ends=[1000, END], first_step=5)
    record = records[AllocationsRecord]
    assert records[ProfileRecord].peak_bytes == 9000
    assert record.peak == pytest.approx(1300e-9)
    assert (record.step, record.phase, record.module, record.place) == (6, "backward", "net.fc", PLACES[0])
    assert record.holders == (("backward of net.fc", 5000), ("forward of net.fc", 4000))


def test_a_module_keeps_what_was_not_released_before_its_forward_ended():
    costs = read(*FORWARD_AND_BACKWARD)[CostsRecord]
    root, inner = costs.modules
    assert (inner.allocated, inner.kept) == (4600, 4000)
    assert (root.allocated, root.kept) == (4680, 4080)  # the 80 lived until after it


def test_lines_and_operators_have_what_they_allocated():
    costs = read(*FORWARD_AND_BACKWARD)[CostsRecord]
    assert {line.place: line.allocated for line in costs.lines} == {PLACES[0]: 4680, PLACES[1]: 5000}
    assert {each.name: each.allocated for each in costs.operators if each.allocated} == {
        "aten::addmm": 4600,
        "aten::mm": 5000,
    }


def test_what_makes_room_does_so_for_its_caller():
    costs = read(
        event("aten::convolution", 0, 100),
        event("aten::empty", 10, 20),
        change(15, 64),
        event("aten::empty", 200, 220),
        change(210, 32),
    )[CostsRecord]
    assert {each.name: each.allocated for each in costs.operators} == {"aten::convolution": 64, "aten::empty": 32}


def test_what_is_released_and_was_not_allocated_was_there_before():
    record = read(change(100, 50), change(200, -700), change(300, 10))[AllocationsRecord]
    assert record.phases == {"before": (700, 0, 0), "other": (50, 50, 60)}
    assert record.holders == (("what was there before", 700), ("what belongs to no phase", 50))
    assert (record.module, record.place) == ("", None)


def test_a_release_ends_the_last_allocation_of_its_size():
    record = read(
        change(10, 64), event("Optimizer.step#SGD.step", 100, 900), change(200, 64), change(950, -64), change(960, 1)
    )[AllocationsRecord]  # fmt: skip
    assert record.phases["optimizer"][-1] == 0
    assert record.phases["other"][-1] == 65


def test_a_release_ends_the_allocation_at_its_address_where_that_is_known():
    record = read(
        change(10, 64, 7000),
        event("Optimizer.step#SGD.step", 100, 900),
        change(200, 64, 8000),
        change(300, -64, 9000),
        change(950, -64, 7000),
    )[AllocationsRecord]
    assert record.phases["other"][-1] == 0
    assert record.phases["optimizer"][-1] == 64
    assert record.phases["before"] == (64, 64, 0, 0)


def test_a_long_history_is_thinned_and_keeps_its_peak():
    sizes = [8 if number % 2 else -8 for number in range(1, END)]
    changes = [change(number, size) for number, size in enumerate(sizes, 1)]
    changes[1777:1777] = [change(1777, 10_000), change(1778, -10_000)]
    record = read(*changes)[AllocationsRecord]
    assert 300 <= len(record.seconds) <= 400
    assert list(record.seconds) == sorted(record.seconds)
    assert max(map(sum, zip(*record.phases.values(), strict=True))) == 10_008
    assert record.peak in record.seconds


def test_memory_that_was_not_noted_down_is_not_said_to_be_nothing():
    costs = read(event("tm:l:0", 0, 10), event("tm:m:0", 1, 9), event("aten::mul", 2, 8), options=())[CostsRecord]
    assert costs.lines[0].allocated is costs.modules[0].allocated is costs.modules[0].kept is None
    assert costs.operators[0].allocated is None
