"""What was collected, written by hand, as the records of a profile: what is carried over, and what is put together."""

import linecache
from typing import NamedTuple

import pytest

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, Event, LoaderSite, ModuleSite
from torchmagic.profiling.recording import correlation_of
from torchmagic.records.accelerator import AcceleratorRecord, LaunchGap, MemorySegments, StreamUse
from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord

NODE = "autograd::engine::evaluate_function: "
WAIT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
PLACES = [Place(file=file, line=line) for file, line in (("two.py", 5), ("<cell>", 9), ("<cell>", 2))]


def event(name, start, end, **more):
    return Event(start=start, end=end, name=name, thread=more.pop("thread", 1), **more)


def read(*events, **more):
    """Return the records of a window of a microsecond, by their types; ``**more`` after that is for ``attribute``."""
    given = {name: more.pop(name) for name in ("keep_source", "file_names") if name in more}
    collected = Collected(events=iter(events), **{"begin": 0, "end": 1000, "places": PLACES, **more})
    return {type(record): record for record in attribute(collected, **given)}


def test_the_profile_says_what_was_collected_and_how():
    profile = read(
        event("tm:l:0", 0, 500),
        event("aten::mul", 100, 300),
        event("aten::add", 200, 250),
        event("a range of the user's", 400, 900),
        event("aten::mul", 450, 500),
        event("aten::mul", 450, 500, thread=2),
        step_ends=[300, 900],
        processor_ends=[200, 500, 600],
        first_step=12,
        waited=7,
        warmed=5,
        options=("stacks",),
        cut="error",
        threads=2,
        cores=4,
        peak_flops=3e10,
        trace="trace.json",
        notes=["One line ran too often."],
    )[ProfileRecord]
    assert (profile.first_step, profile.steps, profile.waited, profile.warmed) == (12, 2, 7, 5)
    assert (profile.seconds, profile.busy, profile.processor) == pytest.approx((1e-6, 250e-9, 600e-9))
    assert (profile.events, profile.options, profile.cut, profile.device) == (6, ("stacks",), "error", "cpu")
    assert (profile.threads, profile.cores, profile.peak_flops, profile.trace) == (2, 4, 3e10, "trace.json")
    assert profile.notes == ("One line ran too often.",)
    assert (profile.flops, profile.peak_bytes, profile.uncounted) == (None, None, ())
    assert 0 < profile.reading < 1


def test_there_are_allocations_only_where_memory_was_noted_down():
    change = event("[memory]", 10, 10, bytes=64)
    assert set(read(change, options=("memory",))) == {
        ProfileRecord, PhasesRecord, CostsRecord, AllocationsRecord, SourcesRecord,
    }  # fmt: skip
    assert AllocationsRecord not in read(event("aten::mul", 10, 20), options=("memory",))
    assert AllocationsRecord not in read(event("aten::mul", 10, 20))


def test_nothing_collected_is_an_empty_profile():
    records = read()
    assert records[CostsRecord] == CostsRecord()
    assert records[ProfileRecord].busy == 0
    assert records[PhasesRecord].other == pytest.approx((1e-6,))


def test_lines_come_in_the_order_of_their_files_and_only_those_that_ran():
    lines = read(event("tm:l:1", 0, 100), event("tm:l:0", 100, 200))[CostsRecord].lines
    assert [line.place for line in lines] == [PLACES[1], PLACES[0]]
    assert all(line.complete and line.calls == 1 for line in lines)


def test_a_line_and_a_module_that_went_silent_have_their_true_counts():
    costs = read(
        event("tm:l:1", 0, 100),
        event("tm:m:0", 10, 20),
        modules=[ModuleSite("net", "", "Net", "float32")],
        silent={1: 40_000, 2: 20_000},
        silent_modules={0: 30_000},
    )[CostsRecord]
    assert [(line.place, line.calls, line.complete) for line in costs.lines] == [
        (PLACES[2], 20_000, False),
        (PLACES[1], 40_000, False),
    ]
    assert (costs.modules[0].calls, costs.modules[0].dtype) == (30_000, "float32")


def test_reads_that_an_optimizer_makes_for_itself_are_no_waits_of_the_line():
    read_value = "aten::_local_scalar_dense"
    lines = read(
        event("tm:l:0", 0, 100),
        event("aten::item", 10, 30),
        event(read_value, 15, 25),
        event("Optimizer.step#Adam.step", 40, 90),
        event("aten::item", 50, 60),
        event(read_value, 52, 58),
    )[CostsRecord].lines
    assert [line.reads for line in lines] == [1]


def test_waits_belong_to_the_loader_whose_batch_came_after_them():
    loaders = read(
        event("tm:l:1", 0, 900),
        event(WAIT, 0, 100),
        event("tm:d:0", 100, 100),
        event(WAIT, 200, 450),
        event("tm:d:1", 450, 450),
        event(WAIT, 500, 550),
        event("tm:d:0", 550, 550),
        event(WAIT, 600, 800),  # its end: no batch came
        loaders=[LoaderSite("train_loader", 0), LoaderSite("valid_loader", 2, 0.75)],
    )[CostsRecord].loaders
    valid, train = loaders
    assert (valid.loader, valid.workers, valid.batches, valid.busy, valid.place) == (
        "valid_loader", 2, 1, 0.75, PLACES[1],
    )  # fmt: skip
    assert valid.waits == pytest.approx((250e-9,))
    assert (train.loader, train.batches, train.busy) == ("train_loader", 2, None)
    assert train.waits == pytest.approx((100e-9, 50e-9))
    assert train.total == pytest.approx(150e-9)


def test_of_many_waits_the_longest_are_kept_in_their_order():
    events = [
        each
        for number in range(300)
        for each in (
            event(WAIT, 3 * number, 3 * number + 1 + number % 2),
            event("tm:d:0", 3 * number + 2, 3 * number + 2),
        )
    ]
    [loader] = read(*events, loaders=[LoaderSite("loader", 0)])[CostsRecord].loaders
    assert (loader.batches, len(loader.waits)) == (300, 200)
    assert loader.waits.count(pytest.approx(2e-9)) == 150
    assert loader.waits[:4] == pytest.approx((1e-9, 2e-9, 1e-9, 2e-9))
    assert loader.total == pytest.approx(450e-9)


def test_operators_of_one_name_are_told_apart_by_phase_and_where_asked_for_by_shapes():
    events = [
        event("aten::mul", start, start + 10, shapes=[[side, 4], [4]], dtypes=["float", "float"], concrete=[None, None])
        for start, side in ((0, 2), (20, 2), (40, 3))
    ]
    optimizer = event("Optimizer.step#SGD.step", 35, 60)
    plain = read(*events, optimizer)[CostsRecord].operators
    assert [(each.phase, each.calls, each.shapes, each.dtype) for each in plain] == [
        ("other", 2, "", ""), ("optimizer", 1, "", ""),
    ]  # fmt: skip
    split = read(*events, optimizer, options=("shapes",))[CostsRecord].operators
    assert [(each.calls, each.shapes, each.dtype) for each in split] == [
        (2, "2×4, 4", "float32"), (1, "3×4, 4", "float32"),
    ]  # fmt: skip


def test_an_operator_shows_the_module_and_the_line_where_most_of_its_time_went():
    events = [
        event("tm:l:0", 0, 100), event("tm:m:0", 10, 90), event("aten::mul", 20, 40),
        event("tm:l:1", 100, 200), event("tm:m:1", 110, 190), event("aten::mul", 120, 170),
    ]  # fmt: skip
    [operator] = read(*events, modules=[ModuleSite("net", "", "Net"), ModuleSite("net", "fc", "Linear")])[
        CostsRecord
    ].operators
    assert (operator.calls, operator.module, operator.place) == (2, "net.fc", PLACES[1])


def test_sources_are_kept_unless_they_may_not_be(monkeypatch):
    text = "import torch\nstep()\n"
    for file in ("<cell>", "<ipython-input-12-0a1b2c>"):
        monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(keepends=True), file))
    files = ("<cell>", "<ipython-input-12-0a1b2c>", "/somewhere/missing.py", "/somewhere/ipykernel_7/99.py")
    places = [Place(file=file, line=2) for file in files]
    events = [event(f"tm:l:{number}", 10 * number, 10 * number + 5) for number in range(4)]
    names = {"<cell>": "this cell"}
    sources = read(*events, places=places, file_names=names)[SourcesRecord]
    assert sources.texts == {"<cell>": text, "<ipython-input-12-0a1b2c>": text}
    assert [sources.names[file] for file in files] == ["this cell", "cell 12", "missing.py", "a cell"]
    assert read(*events, places=places, keep_source=False)[SourcesRecord].texts == {}


# No accelerator is here: these events are written as torch's profiler has them on one.


def on_cuda(*events, **more):
    return read(*events, device="cuda", **more)


class Noted(NamedTuple):
    """Numbers of an event as the profiler has them: its own, and that of the operator that launched it."""

    own: int
    linked: int = 0

    def correlation_id(self):
        return self.own

    def linked_correlation_id(self):
        return self.linked


def test_a_kernel_that_no_operator_launched_is_not_put_down_to_one_of_the_same_number():
    operator = correlation_of(Noted(7), "aten::mm", device=False)
    launched = correlation_of(Noted(812, linked=7), "a kernel", device=True)
    alone = correlation_of(Noted(7), "another kernel", device=True)
    launch = correlation_of(Noted(7), "cuLaunchKernel", device=False)
    assert (operator, launched) == (7, 7)
    assert alone == launch != operator
    records = read(
        event("aten::mm", 20, 80, correlation=operator),
        event("cuLaunchKernel", 100, 110, correlation=launch),
        kernel("a kernel", 200, 300, launched),
        kernel("another kernel", 300, 420, alone),
        device="cuda",
    )
    times = {each.name: each.device for each in records[CostsRecord].operators}
    assert times == {"aten::mm": pytest.approx(100e-9), "cuLaunchKernel": pytest.approx(120e-9)}


def kernel(name, start, end, correlation, stream=7):
    return event(name, start, end, thread=stream, device=True, correlation=correlation)


def test_a_kernel_belongs_to_the_operator_that_launched_it_and_to_its_module_and_line():
    records = on_cuda(
        event("tm:l:0", 0, 100),
        event("tm:m:0", 10, 90),
        event("aten::linear", 20, 80, correlation=4),
        event("aten::addmm", 30, 70, correlation=5),
        event("cudaLaunchKernel", 40, 50, thread=9001, correlation=5),
        kernel("ampere_sgemm_128x64_tn", 60, 260, 5),
        kernel("vectorized_elementwise_kernel", 240, 300, 5, stream=8),
        modules=[ModuleSite("net", "", "Linear")],
    )
    costs, profile = records[CostsRecord], records[ProfileRecord]
    operators = {each.name: each for each in costs.operators}
    assert operators["aten::addmm"].device == pytest.approx(260e-9)
    assert operators["aten::linear"].device == 0
    assert operators["aten::addmm"].own == pytest.approx(30e-9)
    assert operators["cudaLaunchKernel"].own == pytest.approx(10e-9)
    assert costs.modules[0].device == pytest.approx(260e-9)
    assert profile.device == "cuda"
    assert profile.busy == pytest.approx(240e-9)  # both streams together, once
    assert costs.operators[0].name == "aten::addmm"


def test_backward_kernels_belong_to_the_module_that_computed_the_forward():
    records = on_cuda(
        event("tm:m:0", 10, 90),
        event("aten::addmm", 30, 70, sequence=3, correlation=5),
        event(NODE + "AddmmBackward0", 200, 300, sequence=3, forward_thread=1, thread=2, correlation=8),
        event("AddmmBackward0", 200, 300, sequence=3, forward_thread=1, thread=2, correlation=9),
        event("aten::mm", 220, 260, thread=2, correlation=10),
        kernel("ampere_sgemm_128x64_nt", 400, 500, 10),
        modules=[ModuleSite("net", "", "Linear")],
    )
    [module] = records[CostsRecord].modules
    assert (module.device, module.backward) == pytest.approx((100e-9, 100e-9))
    [mm] = [each for each in records[CostsRecord].operators if each.name == "aten::mm"]
    assert (mm.phase, mm.module) == ("backward", "net")


def test_copies_to_the_accelerator_are_transfer_and_copies_back_are_waits():
    records = on_cuda(
        event("tm:l:0", 0, 100),
        event("aten::to", 10, 60, correlation=1),
        event("aten::copy_", 20, 50, correlation=2),
        kernel("Memcpy HtoD (Pageable -> Device)", 30, 45, 2),
        event("tm:l:1", 100, 300),
        event("aten::item", 110, 180, correlation=3),
        event("aten::_local_scalar_dense", 120, 170, correlation=4),
        kernel("Memcpy DtoH (Device -> Pageable)", 150, 160, 4),
        event("aten::copy_", 200, 280, correlation=5),
        kernel("Memcpy DtoH (Device -> Pageable)", 250, 260, 5),
        event("aten::copy_", 285, 290, correlation=6),
        step_ends=[1000],
    )
    assert records[PhasesRecord].transfer == pytest.approx((30e-9,))
    assert {line.place: line.reads for line in records[CostsRecord].lines} == {PLACES[0]: 0, PLACES[1]: 2}


def test_of_two_memories_the_accelerators_is_shown():
    records = on_cuda(
        event("[memory]", 10, 10, bytes=1000),
        event("[memory]", 20, 20, bytes=64, device=True),
        event("[memory]", 30, 30, bytes=-64, device=True),
        options=("memory",),
    )
    assert records[ProfileRecord].peak_bytes == 64
    assert records[AllocationsRecord].phases["other"] == (64, 0)


MICRO = 1000


def timeline(**more):
    """Two streams: the second begins while the first is at work; then nothing runs until a late launch at line 1."""
    return on_cuda(
        event("tm:l:0", 0, 30 * MICRO),
        event("aten::mm", 1 * MICRO, 5 * MICRO, correlation=1),
        event("aten::relu", 6 * MICRO, 8 * MICRO, correlation=2),
        event("tm:l:1", 40 * MICRO, 90 * MICRO),
        event("tm:p:optimizer", 41 * MICRO, 80 * MICRO),
        event("aten::add_", 70 * MICRO, 72 * MICRO, correlation=3),
        event("aten::add_", 76 * MICRO, 77 * MICRO, correlation=4),
        kernel("gemm", 5 * MICRO, 25 * MICRO, 1),
        kernel("relu_kernel", 15 * MICRO, 21 * MICRO, 2, stream=8),
        kernel("relu_kernel", 21 * MICRO, 30 * MICRO, 2, stream=8),
        kernel("add_kernel", 73 * MICRO, 75 * MICRO, 3),
        kernel("add_kernel", 80 * MICRO, 81 * MICRO, 4),
        kernel("unknown_kernel", 82 * MICRO, 83 * MICRO, 99),
        end=100 * MICRO,
        **more,
    )


def test_busy_and_idle_times_and_those_of_two_streams_at_once_add_up():
    records = timeline()
    found = records[AcceleratorRecord]
    assert (found.kernels, found.short) == (6, 5)
    assert found.busy == pytest.approx(29e-6) == records[ProfileRecord].busy
    assert found.together == pytest.approx(10e-6)
    assert found.idle == pytest.approx((43 + 5 + 1) * 1e-6)
    assert found.busy + found.idle == pytest.approx((83 - 5) * 1e-6)  # from the first kernel to the last
    assert found.streams == (
        StreamUse(stream=7, kernels=4, seconds=pytest.approx(24e-6)),
        StreamUse(stream=8, kernels=2, seconds=pytest.approx(15e-6)),
    )


def test_a_gap_is_put_down_to_the_line_and_phase_that_launched_too_late():
    found = timeline()[AcceleratorRecord]
    late, unknown = found.gaps
    assert late == LaunchGap(
        place=PLACES[1], phase="optimizer", count=2, seconds=pytest.approx(48e-6), longest=pytest.approx(43e-6)
    )
    assert (unknown.place, unknown.phase, unknown.count) == (None, "other", 1)


def test_a_late_launch_of_the_backward_is_put_down_to_the_line_of_its_forward():
    records = on_cuda(
        event("tm:l:0", 10, 90),
        event("aten::addmm", 30, 70, sequence=3, correlation=5),
        kernel("forward", 80, 100, 5),
        event("tm:l:1", 100, 900),
        event(NODE + "AddmmBackward0", 200, 300, sequence=3, forward_thread=1, thread=2, correlation=8),
        event("aten::mm", 220, 260, thread=2, correlation=10),
        kernel("backward", 400, 500, 10),
    )
    (gap,) = records[AcceleratorRecord].gaps
    assert (gap.place, gap.phase, gap.seconds) == (PLACES[0], "backward", pytest.approx(300e-9))


def test_kernels_of_a_name_are_one_with_the_operator_that_launched_most_of_them():
    dearest = timeline()[AcceleratorRecord].dearest
    assert [(each.name, each.calls, each.operator) for each in dearest] == [
        ("gemm", 1, "aten::mm"),
        ("relu_kernel", 2, "aten::relu"),
        ("add_kernel", 2, "aten::add_"),
        ("unknown_kernel", 1, ""),
    ]
    assert [each.seconds for each in dearest] == pytest.approx([20e-6, 15e-6, 3e-6, 1e-6])


def test_memory_that_was_reserved_goes_with_it_and_without_kernels_there_is_nothing():
    memory = MemorySegments(segments=1, reserved=8, allocated=4, freed=0, largest_free=4)
    assert timeline(memory=memory)[AcceleratorRecord].memory is memory
    assert AcceleratorRecord not in on_cuda(event("aten::mm", 1, 5, correlation=1))
