"""This file tests what is collected: which steps, with which ranges, and however the code ends."""

import threading
import time
import warnings
from collections import Counter
from itertools import pairwise

import psutil
import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

from torchmagic.probes.taps import Taps
from torchmagic.profiling import window as windows
from torchmagic.profiling.collect import Profiling
from torchmagic.profiling.kineto import Kineto, is_profiling
from torchmagic.profiling.ranges import Note
from torchmagic.records.place import Place


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 3, dtype=torch.float64)

    def forward(self, x):
        return self.head(self.body(x).double())


# An operator for each step, by which it is known among the events.
TELLTALES = ("erf", "erfc", "digamma", "lgamma", "expm1", "log1p", "sinc", "i0", "asinh", "acosh", "atanh", "tan")


def train(steps, *, net=None, at_step=lambda _: None):
    net = Net() if net is None else net
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    for step in range(steps):
        at_step(step)
        getattr(torch, TELLTALES[step % len(TELLTALES)])(x)
        opt.zero_grad()
        functional.cross_entropy(net(x), y).backward()
        opt.step()


def steps_in(seen):
    return [step for step, name in enumerate(TELLTALES) if f"aten::{name}" in seen.names]


def ranges_in(seen, prefix):
    return dict(Counter(name for name in seen.names if name.startswith(prefix)))


def test_the_steps_after_the_warm_up_are_profiled_and_no_others(profiled):
    with profiled(steps=3) as seen:
        train(8)
    assert steps_in(seen) == [2, 3, 4]
    collected = seen.collected
    assert (collected.first_step, collected.waited, collected.warmed, collected.cut) == (2, 0, 2, "")
    assert len(collected.step_ends) == 3
    assert ranges_in(seen, "tm:s:") == {"tm:s:2": 1, "tm:s:3": 1, "tm:s:4": 1}
    assert not seen.failures
    assert seen.run.steps == 8


def test_nothing_lies_outside_the_window_and_its_steps_fill_it_in_order(profiled):
    with profiled(steps=3) as seen:
        train(8)
    collected = seen.collected
    assert all(collected.begin <= each.start <= each.end <= collected.end for each in collected.events)
    ends = [collected.begin, *collected.step_ends, collected.end]
    assert ends == sorted(ends)
    assert len(collected.processor_ends) == 4
    assert collected.processor_ends == sorted(collected.processor_ends)
    assert 0 < collected.processor_ends[-1] <= (collected.end - collected.begin) * 1.1 + 1e6


def test_steps_may_be_waited_for(profiled):
    with profiled(steps=2, wait=3, warmup=1) as seen:
        train(8)
    assert steps_in(seen) == [4, 5]
    assert (seen.collected.first_step, seen.collected.waited, seen.collected.warmed) == (4, 3, 1)


def test_without_a_warm_up_the_profile_begins_with_the_code(profiled):
    with profiled(steps=2, warmup=0) as seen:
        torch.frac(torch.ones(3))
        train(4)
    assert "aten::frac" in seen.names
    assert steps_in(seen) == [0, 1]
    assert seen.collected.first_step == 0


def test_code_without_steps_is_profiled_whole(profiled):
    with profiled() as seen:
        torch.frac(torch.ones(3))
        net = Net()
        with torch.no_grad():
            net(torch.randn(2, 4))
        torch.trunc(torch.ones(3))
    assert {"aten::frac", "aten::trunc", "aten::addmm"} <= set(seen.names)
    assert seen.collected.step_ends == []
    assert seen.collected.cut == ""
    assert len(seen.collected.processor_ends) == 1


@pytest.mark.parametrize("steps", [0, 1])
def test_what_it_takes_to_leave_torch_is_no_time_of_the_code(profiled, monkeypatch, steps):
    leave, slowly = Taps.close, 0.4

    def leave_slowly(taps):
        time.sleep(slowly)
        leave(taps)

    monkeypatch.setattr(Taps, "close", leave_slowly)
    with profiled(steps=3, warmup=0) as seen:
        train(steps)
    assert 0 < seen.collected.end - seen.collected.begin < slowly * 1e9
    assert seen.collected.cut == ("ended" if steps else "")
    assert not seen.failures


@pytest.mark.parametrize("steps", [1, 2])
def test_code_that_ends_with_its_warm_up_is_profiled_with_it_and_that_is_said(profiled, steps):
    with profiled() as seen:
        train(steps)
    assert steps_in(seen) == list(range(steps))
    assert len(seen.collected.step_ends) == steps
    assert (seen.collected.first_step, seen.collected.warmed, seen.collected.cut) == (0, 0, "ended")
    assert any(f"so {steps} of these are profiled" in note for note in seen.notes)


def test_code_that_ends_while_steps_are_waited_for_shows_its_first_step(profiled):
    with profiled(wait=5) as seen:
        train(3)
    assert steps_in(seen) == [0]
    assert seen.collected.waited == 0


def test_code_that_makes_fewer_steps_than_asked_for_is_cut(profiled):
    with profiled(steps=20) as seen:
        train(5)
    assert steps_in(seen) == [2, 3, 4]
    assert seen.collected.cut == "ended"


@pytest.mark.parametrize(("error", "cut"), [(KeyError("mine"), "error"), (KeyboardInterrupt(), "interrupted")])
def test_code_that_raises_is_profiled_up_to_there(profiled, error, cut):
    def at_step(step):
        if step == 4:
            raise error

    with pytest.raises(type(error)) as caught, profiled() as seen:
        train(8, at_step=at_step)
    assert caught.value is error
    assert steps_in(seen) == [2, 3]
    assert seen.collected.cut == cut
    assert not is_profiling()


def test_a_model_that_raises_in_the_middle_of_its_forward_is_profiled_up_to_there(profiled):
    with pytest.raises(RuntimeError), profiled() as seen:
        nn.Sequential(nn.Linear(4, 4), nn.Linear(5, 5))(torch.ones(2, 4))
    assert seen.collected.cut == "error"
    assert ranges_in(seen, "tm:m:") == {"tm:m:0": 1, "tm:m:1": 1, "tm:m:2": 1}
    assert not seen.failures


def test_an_error_after_the_window_cuts_nothing(profiled):
    def at_step(step):
        if step == 6:
            raise KeyError

    with pytest.raises(KeyError), profiled(steps=2) as seen:
        train(8, at_step=at_step)
    assert seen.collected.cut == ""
    assert len(seen.collected.step_ends) == 2


def test_after_the_window_the_run_goes_on_unprofiled(profiled):
    states = {}

    def at_step(step):
        states[step] = is_profiling(), "range_wrappers.py" in nn.Module.__call__.__code__.co_filename

    with profiled(steps=2):
        train(6, at_step=at_step)
    assert states == dict.fromkeys(range(4), (True, True)) | dict.fromkeys((4, 5), (False, False))


def test_a_warning_of_a_forward_names_the_line_that_called_the_model(profiled):
    class Warns(nn.Linear):
        def forward(self, x):
            warnings.warn("called", stacklevel=4)
            return super().forward(x)

    net = Warns(2, 2)
    with warnings.catch_warnings(record=True) as caught, profiled(steps=3):
        warnings.simplefilter("always")
        for _ in range(3):
            net(torch.ones(2))
    assert {each.filename for each in caught if str(each.message) == "called"} == {__file__}


def test_modules_of_all_depths_have_ranges(profiled):
    net = Net()
    with profiled(namespace={"net": net}, steps=3) as seen:
        train(5, net=net)
    sites = [(each.model, each.path, each.class_name, each.dtype) for each in seen.collected.modules]
    assert sites == [
        ("net", "", "Net", ""),
        ("net", "body", "Sequential", ""),
        ("net", "body.0", "Linear", "float32"),
        ("net", "body.1", "ReLU", ""),
        ("net", "head", "Linear", "float64"),
    ]
    assert ranges_in(seen, "tm:m:") == {f"tm:m:{index}": 3 for index in range(5)}


def test_a_module_in_a_plain_list_goes_by_its_class_in_its_caller(profiled):
    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 4)
            self.rest = [nn.Linear(4, 4) for _ in range(3)]

        def forward(self, x):
            for layer in self.rest:
                x = layer(x)
            return nn.Tanh()(self.first(x))

    net = Hidden()
    with profiled(namespace={"net": net}) as seen:
        for _ in range(2):
            net(torch.ones(2, 4))
    assert [each.path for each in seen.collected.modules] == ["", "first", "Linear()", "Tanh()"]
    assert ranges_in(seen, "tm:m:") == {"tm:m:0": 2, "tm:m:1": 2, "tm:m:2": 6, "tm:m:3": 2}


def test_a_module_that_calls_itself_has_a_range_for_each_call(profiled):
    class Down(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, depth):
            return self(self.layer(x), depth - 1) if depth else x

    net = Down()
    with profiled(namespace={"net": net}) as seen:
        net(torch.ones(2, 4), 5)
    assert ranges_in(seen, "tm:m:") == {"tm:m:0": 6, "tm:m:1": 5}
    assert not seen.failures


def test_two_models_of_one_name_are_two(profiled):
    with profiled() as seen:
        kept = [nn.Linear(2, 2), nn.Linear(2, 2)]
        for _ in range(2):
            for model in kept:
                model(torch.ones(1, 2))
    assert len({each.model for each in seen.collected.modules}) == 2
    assert ranges_in(seen, "tm:m:") == {"tm:m:0": 2, "tm:m:1": 2}


def test_each_step_has_its_phases(profiled):
    with profiled(steps=4) as seen:
        train(8)
    assert ranges_in(seen, "tm:p:") == {"tm:p:forward": 4, "tm:p:backward": 4, "tm:p:optimizer": 4}


def test_the_phases_of_a_closure_lie_within_the_optimizers(profiled):
    net = nn.Linear(4, 1)
    opt = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def closure():
        opt.zero_grad()
        loss = net(torch.ones(2, 4)).square().mean()
        loss.backward()
        return loss

    with profiled(steps=1, warmup=0) as seen:
        opt.step(closure)
    (optimizer,) = (each for each in seen.collected.events if each.name == "tm:p:optimizer")
    forwards = [each for each in seen.collected.events if each.name == "tm:p:forward"]
    assert forwards
    assert all(optimizer.start <= each.start and each.end <= optimizer.end for each in forwards)


def test_a_forward_whose_error_was_caught_ends_where_the_next_one_begins(profiled):
    net = nn.Sequential(nn.Linear(4, 2))
    with profiled() as seen:
        for shape in ((2, 5), (2, 4), (2, 4)):
            try:
                net(torch.ones(shape))
            except RuntimeError:
                continue
    forwards = [each for each in seen.collected.events if each.name == "tm:p:forward"]
    assert len(forwards) == 3
    assert all(one.end <= other.start for one, other in pairwise(forwards))


def test_clipping_is_the_optimizers(profiled):
    net = nn.Linear(4, 2)
    with profiled() as seen:
        net(torch.ones(1, 4)).sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    assert ranges_in(seen, "tm:p:") == {"tm:p:forward": 1, "tm:p:backward": 1, "tm:p:optimizer": 1}


@pytest.mark.parametrize("workers", [0, 2])
def test_each_batch_is_marked_with_its_loader(profiled, workers):
    data = TensorDataset(torch.randn(48, 4), torch.randint(0, 3, (48,)))
    loader = DataLoader(data, batch_size=8, num_workers=workers)
    net = Net()
    with profiled(namespace={"loader": loader}, steps=6, warmup=0) as seen:
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            functional.cross_entropy(net(x), y).backward()
            opt.step()
    (site,) = seen.collected.loaders
    assert (site.name, site.workers) == ("loader", workers)
    assert (site.busy is None) == (workers == 0)
    assert ranges_in(seen, "tm:d:") == {"tm:d:0": 6}
    assert sum(name.startswith("enumerate(DataLoader)") for name in seen.names) == 6


def test_a_profiler_that_runs_already_is_left_alone_and_that_is_said(profiled):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs, profiled() as seen:
        torch.frac(torch.ones(3))
    assert "aten::frac" in {each.key for each in theirs.key_averages()}
    assert seen.collected is None
    assert [note for note in seen.notes if note.startswith("Not profiled: a profiler of torch was running")]
    assert not seen.failures


def test_a_profiler_of_the_users_that_begins_in_the_window_gets_all_its_events(profiled):
    with profiled() as seen:
        torch.trunc(torch.ones(3))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
            torch.frac(torch.ones(3))
    assert "aten::frac" in {each.key for each in theirs.key_averages()}
    assert "aten::trunc" in seen.names
    assert "aten::frac" not in seen.names
    assert seen.collected.cut == "ended"
    assert any("profiler of its own" in note for note in seen.notes)
    assert not seen.failures


def test_a_profile_within_a_profile_gives_way(profiled):
    with profiled() as outer:
        with profiled() as inner:
            torch.frac(torch.ones(3))
        torch.trunc(torch.ones(3))
    assert inner.collected is None
    assert {"aten::frac", "aten::trunc"} <= set(outer.names)


def test_a_profiler_that_refuses_is_a_note_and_the_code_runs(profiled, monkeypatch):
    def refuse(_):
        raise RuntimeError("no counters left\nsecond line")

    monkeypatch.setattr(Kineto, "start", refuse)
    with profiled() as seen:
        train(3)
    assert seen.run.steps == 3
    assert "Not profiled: torch's profiler did not start (no counters left)." in seen.notes
    assert not seen.failures


def test_what_grows_too_large_before_any_step_is_ended_and_shown_if_no_step_comes(profiled, monkeypatch):
    monkeypatch.setattr(windows, "MOST_GROWTH", -(1 << 60))
    monkeypatch.setattr(windows, "BETWEEN_LOOKS", 0)
    net = Net()
    with profiled() as seen:
        for name in TELLTALES:
            getattr(torch, name)(torch.ones(3))
            net(torch.ones(1, 4))
    assert steps_in(seen) == [0]
    assert seen.collected.cut == "full"
    assert sum("grew too large" in note for note in seen.notes) == 1


def test_a_window_that_grows_too_large_is_cut(profiled, monkeypatch):
    def at_step(step):
        if step == 4:
            monkeypatch.setattr(windows, "MOST_GROWTH", -(1 << 60))
            monkeypatch.setattr(windows, "BETWEEN_LOOKS", 0)

    with profiled() as seen:
        train(8, at_step=at_step)
    assert seen.collected.cut == "full"
    assert 3 in steps_in(seen)
    assert 5 not in steps_in(seen)


class OneLine:
    """A line of the user's, written by hand."""

    def __init__(self):
        self.places, self.notes = [Place(file="cell", line=1, source="run()")], []
        self.make_range = self.namespace = None
        self.ended = 0

    def begin(self, namespace):
        self.namespace = namespace
        self.range = self.make_range("tm:l:0")

    def end(self):
        self.ended += 1


def test_lines_have_ranges_while_the_window_is_open(profiled):
    lines = OneLine()
    with profiled(line_ranges=lines, steps=2) as seen:
        with lines.range:
            train(3)
            with lines.range:
                train(2)
        assert lines.ended == 1
    outer, inner = (each for each in seen.collected.events if each.name == "tm:l:0")
    assert (outer.start, outer.end) == (seen.collected.begin, inner.end)
    assert seen.collected.places == lines.places


def test_lines_stay_as_they_are_where_they_are_not_asked_for(profiled):
    lines = OneLine()
    with profiled(line_ranges=lines, lines=False):
        assert not hasattr(lines, "range")


def test_a_line_that_runs_very_often_is_counted_to_the_end(profiled):
    lines = OneLine()
    with profiled(line_ranges=lines) as seen:
        for _ in range(10_005):
            with lines.range:
                pass
    assert seen.collected.silent == {0: 10_005}
    assert seen.names.count("tm:l:0") == 10_000


def test_a_loop_without_modules_is_ended_by_its_lines(profiled, monkeypatch):
    monkeypatch.setattr(windows, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(windows, "BETWEEN_LOOKS", 0)
    lines = OneLine()
    with profiled(line_ranges=lines) as seen:
        for _ in range(2000):
            with lines.range:
                torch.ones(2)
    assert seen.collected.cut == "full"
    assert seen.names.count("aten::ones") == 256


def test_compiled_code_is_not_compiled_again_for_the_profile(profiled):
    net = Net()
    compiled = torch.compile(net, backend="eager")
    counters.clear()
    with profiled(namespace={"net": compiled}, steps=3) as seen:
        train(8, net=compiled)
    assert counters["stats"]["unique_graphs"] == 1
    assert ranges_in(seen, "tm:m:") == {"tm:m:0": 3}
    assert not seen.failures
    torch.compiler.reset()


def test_compiled_before_the_profile_stays_compiled(profiled):
    net = Net()
    compiled = torch.compile(net, backend="eager")
    train(2, net=compiled)
    counters.clear()
    with profiled(namespace={"net": compiled}, steps=3) as seen:
        train(8, net=compiled)
    assert counters["stats"]["unique_graphs"] == 0
    assert not seen.failures
    torch.compiler.reset()


def test_shapes_types_and_values_of_inputs_come_where_asked_for(profiled):
    with profiled(shapes=True) as seen:
        torch.add(torch.ones(2, 3), torch.ones(3), alpha=2)
    add = next(each for each in seen.collected.events if each.name == "aten::add")
    assert add.shapes == [[2, 3], [3], []]
    assert add.dtypes[:2] == ["float", "float"]
    assert add.concrete[2] == 2


def test_allocations_come_where_asked_for(profiled):
    with profiled(memory=True) as seen:
        kept = torch.ones(1000)
        del kept
    sizes = [each.bytes for each in seen.collected.events if each.name == "[memory]"]
    assert 4000 in sizes
    assert -4000 in sizes
    with profiled() as seen:
        torch.ones(1000)
    assert "[memory]" not in seen.names


def test_pythons_own_calls_are_no_events(profiled):
    with profiled(stacks=True) as seen:
        torch.frac(torch.ones(3))
    assert "aten::frac" in seen.names
    assert not [name for name in seen.names if ".py" in name]


def test_a_second_detach_reads_nothing_twice(profiled):
    probes = []

    def kept(*args, **kwargs):
        probes.append(Profiling(*args, **kwargs))
        return probes[-1]

    with profiled(probe=kept) as seen:
        torch.ones(2)
    count = len(seen.run.records)
    probes[0].detach()
    assert len(seen.run.records) == count


def test_a_training_in_another_thread_runs_well_and_is_said_not_to_be_seen(profiled):
    with profiled(steps=1, warmup=0) as seen:
        thread = threading.Thread(target=train, args=(4,))
        thread.start()
        thread.join()
        torch.frac(torch.ones(3))
    assert seen.run.steps == 4
    assert "aten::frac" in seen.names
    assert any("in another thread" in note for note in seen.notes)
    assert not is_profiling()
    assert not seen.failures


def test_an_interrupt_between_two_ranges_loses_nothing(profiled):
    lines = OneLine()

    def run():
        torch.frac(torch.ones(3))
        lines.range._ranges.standing.append((lines.range, Note("tm:l:0")))  # what is left if it comes before the range
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), profiled(line_ranges=lines) as seen:
        run()
    assert "aten::frac" in seen.names
    assert seen.collected.cut == "interrupted"
    assert not seen.failures


def test_steps_that_are_waited_for_are_not_noted_down_at_all(profiled, tmp_path):
    trace = tmp_path / "trace.json"
    with profiled(steps=2, wait=4, warmup=1, trace=str(trace)):
        train(8)
    written = [step for step, name in enumerate(TELLTALES) if f'"aten::{name}"' in trace.read_text()]
    assert written == [0, 4, 5, 6]  # that steps come at all is known after the first


def test_what_ran_often_before_the_window_is_timed_in_it(profiled):
    lines = OneLine()

    def at_step(step):
        for _ in range(10_005 if step == 0 else 3):
            with lines.range:
                pass

    with profiled(line_ranges=lines, steps=2) as seen:
        train(6, at_step=at_step)
    assert seen.collected.silent == {}
    assert seen.names.count("tm:l:0") == 6


class Laborious(Dataset):
    """Samples that take many operators; each tells how many bytes its process holds."""

    def __len__(self):
        return 320

    def __getitem__(self, index):
        x = torch.ones(8)
        for _ in range(300):
            x = x + 1
        return x, psutil.Process().memory_info().rss


def test_a_worker_notes_down_nothing(profiled):
    held = []
    with profiled(steps=2):
        net = nn.Linear(8, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for x, num_bytes in DataLoader(Laborious(), batch_size=32, num_workers=1):
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
            held.append(num_bytes.max().item())
    assert held[-1] - held[1] < 20 * 2**20  # an operator that is noted down takes a kilobyte
