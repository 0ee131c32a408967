"""Events in columns: they are those that came one by one, and torch's are those that torch has."""

import warnings
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch._C._autograd import _KinetoEvent
from torch.autograd import DeviceType

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, Event
from torchmagic.profiling.columns import in_columns
from torchmagic.profiling.kineto import Kineto
from torchmagic.profiling.recording import Recording
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.records.place import Place
from torchmagic.tuning.peak_memory import peak_memory

Range = torch._C._profiler._RecordFunctionFast


def recorded(**settings):
    """Return a recording of two steps, between two marks."""
    model, rows = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)), torch.randn(4, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    kineto = Kineto(ProfileSettings(**settings))
    kineto.start()
    with Range("tm:b:0"):
        pass
    for number in range(2):
        with Range("tm:l:0"):
            model(rows).sum().backward()
        optimizer.step()
        with Range(f"tm:s:{number}"):
            pass
    with Range("tm:e:0"):
        pass
    kineto.stop()
    return kineto


def told_by_torch(kineto, begin, end):
    """Yield what torch's own objects tell of the events between two moments, one by one."""
    for each in kineto.profile.profiler.kineto_results.events():
        if each.end_ns() < begin or each.start_ns() > end or each.name().startswith(("tm:b:", "tm:e:")):
            continue
        is_change = each.name() == "[memory]"
        yield (
            max(begin, each.start_ns()),
            min(end, each.end_ns()),
            each.name(),
            each.start_thread_id(),
            each.sequence_nr(),
            each.fwd_thread_id() if each.sequence_nr() >= 0 else 0,
            each.nbytes() if is_change else None,
        )


@pytest.mark.parametrize("settings", [{}, {"memory": True}, {"stacks": True}])
def test_columns_hold_what_torch_tells_of_each_event_cut_at_the_windows_ends(settings):
    kineto = recorded(**settings)
    first, second = (each for each in kineto.marks() if each.name == "tm:l:0")
    begin, end = first.start + 1, second.end - 1
    found = [event[:7] for event in kineto.events(begin, end)]
    functions = {each.name() for each in kineto.profile.profiler.kineto_results.events() if each.is_python_function()}
    assert found == [each for each in told_by_torch(kineto, begin, end) if each[2] not in functions]
    assert [event[:2] for event in found if event[2] == "tm:l:0"] == [(begin, first.end), (second.start, end)]
    assert any(event[5] for event in found)  # the backward's nodes name the thread of their forward
    assert any(event[6] for event in found) == ("memory" in settings)
    assert {event[4:6] for event in found if event[2] == "[memory]"} <= {(-1, 0)}


@pytest.mark.parametrize("settings", [{}, {"memory": True}, {"shapes": True}])
def test_records_are_the_same_of_columns_and_of_events_one_by_one(settings):
    kineto, settings = recorded(**settings), ProfileSettings(**settings)
    begin, *_, end = kineto.marks()
    events = kineto.events(begin.start, end.end)
    window = {"begin": begin.start, "end": end.end, "places": [Place(file="cell", line=1)], "options": settings.options}
    whole, single = (attribute(Collected(events=each, **window)) for each in (events, list(events)))
    assert whole[1:] == single[1:]
    assert replace(whole[0], reading=0.0) == replace(single[0], reading=0.0)


def test_marks_and_events_can_be_read_as_often_as_wanted():
    kineto = recorded()
    events = kineto.events(0, 1 << 62)
    assert kineto.marks() == kineto.marks()
    assert list(events) == list(events)
    assert kineto.marks()[0].name == "tm:b:0"
    assert "tm:b:0" not in {event.name for event in events}


def test_a_recording_that_never_began_has_no_events():
    kineto = Kineto(ProfileSettings())
    assert not kineto.stop()
    assert kineto.marks() == list(kineto.events(0, 10)) == []


def test_events_in_columns_are_those_that_came_with_kernels_last():
    host = [
        Event(0, 9, "aten::mm", 1, shapes=[[2, 2]], dtypes=["float"], concrete=[None], correlation=5),
        Event(1, 1, "[memory]", 1, bytes=64, device=True, correlation=4096),
        Event(2, 3, "aten::mul", 2, 7, 1),
        Event(4, 5, "aten::mm", 1, correlation=-6),
    ]
    kernel = Event(6, 8, "gemm", 7, device=True, correlation=5)
    columns = in_columns(iter([kernel, *host]))
    assert list(columns) == [*host, kernel]
    assert columns.words == ["aten::mm", "[memory]", "aten::mul"]
    assert columns.names.tolist() == [0, 1, 2, 0]
    assert list(in_columns([])) == []


def test_a_range_that_the_device_repeats_is_left_out_by_any_torch_and_work_of_the_device_is_kept(monkeypatch):
    kineto = recorded()
    monkeypatch.delattr(_KinetoEvent, "activity_type", raising=False)  # torch 2.11 has none
    monkeypatch.setattr(_KinetoEvent, "device_type", lambda _: DeviceType.CUDA)
    monkeypatch.setattr(_KinetoEvent, "is_user_annotation", lambda each: each.name().startswith("tm:s:"))
    results = kineto.profile.profiler.kineto_results
    first, second = (each for each in kineto.marks() if each.name == "tm:l:0")
    recording = Recording(results, on_device=True, shapes=False, memory=False, stacks=False)
    columns = recording.columns(first.start, second.end)
    names = {each.name for each in columns.kernels}
    assert "aten::linear" in names
    assert "tm:s:0" not in names


@pytest.mark.parametrize("profiled", [recorded, lambda: peak_memory(torch.ones(2).exp, torch.device("cpu"))])
def test_what_torch_warns_of_at_a_start_of_its_profiler_is_not_for_the_user(monkeypatch, profiled):
    native = torch.profiler.profile.start

    def warned(self):
        warnings.warn("Profiler clears events at the end of each cycle.", stacklevel=2)  # as torch 2.11 does
        native(self)

    monkeypatch.setattr(torch.profiler.profile, "start", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert profiled() is not None
