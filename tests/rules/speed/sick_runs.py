"""This file is one sick run for each rule on speed, each little above what its rule asks for before it speaks.

Beside what makes it sick, each has what a careless rule would take for it: other models, other phases, other lines.
"""

from torchmagic.records.compilation import CompilationRecord, CompiledFunction
from torchmagic.records.model import LoaderRecord
from torchmagic.records.speed import (
    BatchTime,
    BatchTimesRecord,
    EvaluationGraphRecord,
    InputGradientRecord,
    RepeatedCopyRecord,
    StepRecord,
    VerifiedRecord,
    WorkerStartRecord,
    ZeroedRecord,
)


def double_precision(run, at):
    run.module("0", "float64", forward_own=0.006, backward_own=0.005).module("1", forward_own=0.5)
    run.module("2", "float64", forward_own=0.010, backward_own=0.010).module("2.w", "float64", forward_own=0.0)
    run.module("", model="other", forward_own=0.9)
    run.operator("mm", 0.03, module="net.0", place=at("h = self.first(x)")).operator("mm", 0.02, module="net.2")
    run.operator("mm", 0.001, module="net.2", place=at("h = h.view(-1)"))
    run.operator("addmm", 0.01, module="net.2", place=at("y = self.second(h)"))


def evaluation_graph(run, at):
    where = at("y = net(x)", "evaluate")
    run.add(EvaluationGraphRecord(model="net", batches=3, seconds=0.91, run_seconds=10.0, place=where))


def graph_breaks(run, at):
    run.add(CompilationRecord(seconds=2.0, run_seconds=10.0, functions=(_compiled(at), _compiled(at, cuts=()))))


def _compiled(at, **changes):
    facts = {"times": 4, "seconds": 0.31, "reasons": ("size mismatch at index 0", "another"),
             "breaks": ("it cannot trace print", "a condition on a tensor"),
             "cuts": (at("print(x)", "forward", line=5), at("if x.sum() > 0:", "forward", line=8)),
             "place": at("def forward(self, x):", "forward", line=3)}  # fmt: skip
    return CompiledFunction(**facts | changes)


def host_reads(run, _at):
    run.within(device="cuda", busy=0.99)
    for phase in ("transfer", "forward", "backward", "other"):
        run.operator("item", 0.001, total=0.5, phase=phase).operator(
            "_local_scalar_dense", 0.03, total=0.069, phase=phase
        )
    run.line("y = net(x)", own=0.5).line("n += int(t)", own=0.001, total=0.2, reads=30)
    run.line("total += loss.item()", own=0.002, total=0.2, reads=60)
    run.line("acc += good.item()", own=0.002, total=0.2, reads=50)
    run.line("best = max(best, v.item())", own=0.002, total=0.2, reads=45)
    run.line("seen += hits[i].item()", own=0.2, reads=85, operators=0.0013)
    run.line("if (x * y).sum() > 0:", own=0.9, reads=90, operators=0.0027)


def input_gradient(run, at):
    run.module("", "", backward_own=0.4).module("0", "float32", model="other", backward_own=0.5)
    run.module("0", backward_own=0.0).module("1", backward_own=0.062)
    run.add(InputGradientRecord(model="net", steps=2, looks=2, shape=(8, 3), place=at()))


def layout_copies(run, at):
    run.operator("copy_", 0.07, place=None, module="net.x").operator("clone", 0.002, total=0.085, calls=10)
    run.operator("copy_", 0.05, place=at("q = q.transpose(1, 2).contiguous()"), module="net.attention")
    run.operator("copy_", 0.01, place=at("k = k.transpose(1, 2).contiguous()"), module="net")


def many_small_operators(run, at):
    run.model().operator("gelu", 0.15, calls=700, module="net.mlp", place=at("h = gelu(h)"))
    run.operator("mul", 0.06, calls=310, phase="backward").module("", "", forward=0.3, backward=0.4, calls=10)
    run.add(_tried("compile", "net", spread=0.02, after=0.0945, preparation=20.0))


def missing_channels_last(run, _at):
    run.model(convolutions=3).hardware(device="cuda", half="float16").within(device="cuda")
    run.module("0", "float16").operator("convolution_backward", 0.1, phase="backward").operator("conv2d", 0.11)


def missing_mixed_precision(run, _at):
    run.model(convolutions=1).module("", "").module().hardware(half="", half_speed=None)
    run.operator("addmm", 0.3).operator("convolution_backward", 0.11, phase="backward")
    run.add(_tried("bfloat16", "net", spread=0.02, after=0.0945))


def optimizer_loop(run, at):
    run.phase(optimizer=0.16).operator("mul_", 0.1, phase="optimizer", calls=111)
    run.operator("empty_like", 0.01, phase="optimizer", calls=100).operator("mm", 0.3, calls=100)
    facts = {"optimizer": "opt", "class_name": "Rprop", "built_in": True, "parameters": 11, "elements": 6000,
             "median_elements": 100, "device": "cpu", "foreach": None, "fused": None, "can_fuse": False,
             "place": at("opt.step()")}  # fmt: skip
    run.add(StepRecord(**facts | {"optimizer": "few", "parameters": 0, "can_fuse": True}), StepRecord(**facts))


def python_loop(run, at):
    run.line("loss.backward()", own=0.5).line("x = y", calls=400, own=0.2, operators=0.1, function="collect")
    run.line("h = self.cell(x[t], h)", calls=330, own=0.09, operators=0.05, backward=0.01, function="forward")
    run.line("seen.append(h)", calls=330, own=0.02, operators=0.0, function="forward")
    where = at("h = self.cell(x[t], h)", "forward", line=3)
    run.operator("addmm", 0.03, module="net.rnn.cell", place=where)
    run.operator("tanh", 0.01, module="net.rnn.cell.act", place=where).operator("mul", 0.01, module="", place=where)
    run.operator("mul", 0.01, module="other", place=at("x = y"))


def recompiles(run, at):
    functions = _compiled(at, times=3), _compiled(at), _compiled(at, reasons=())
    run.add(CompilationRecord(seconds=2.0, run_seconds=10.0, functions=functions))


def repeated_host_device_copies(run, at):
    facts = {"device": "cuda:0", "back": True, "steps": 4, "copies": 5, "repeats": 3, "seconds": 0.0125,
             "num_bytes": 4 << 20, "shape": (), "place": at("n += count.item()")}  # fmt: skip
    run.add(RepeatedCopyRecord(**facts))
    run.add(RepeatedCopyRecord(**facts | {"back": False, "shape": (512, 4), "place": at("mask.to(device)")}))


def restarted_workers(run, at):
    facts = {"loader": "train", "workers": 2, "passes": 3, "seconds": 0.5, "first": 0.19, "run_seconds": 10.0}
    run.add(WorkerStartRecord(persistent=True, place=at("for x in test:"), **facts | {"loader": "test"}))
    run.add(WorkerStartRecord(persistent=False, place=at("for x, y in train:"), **facts))


def slow_line(run, _at):
    run.loader(0.01, place_source="batch = fetch(train)").line("batch = fetch(train)", calls=3, own=0.5)
    for source in ("", "while go:", "async with it:", "opt.zero_grad()", "rows = yield"):
        run.line(source, own=0.4)
    for number, own in enumerate((0.14, 0.13, 0.18, 0.16)):
        run.line(f"plot_{number}(history)", calls=3, own=own, operators=0.2 * own)


def slow_loading(run, _at):
    run.phase(data=0.16).loader(0.19, name="test", workers=1).loader(0.2, workers=1, waits=(0.004, 0.03, 0.01))
    run.within(cores=4)


def slow_transfer(run, at):
    run.within(device="cuda").phase(transfer=0.55).operator("copy_", 0.01, phase="transfer", place=at("y = y.cuda()"))
    run.operator("copy_", 0.3, phase="transfer", place=at("x = x.cuda()")).operator("copy_", 0.4, phase="transfer")
    run.operator("mm", 0.9, place=at("y = net(x)"))
    run.add(LoaderRecord(name="a", batch_size=8, num_workers=0, sampler="S", num_batches=4, pin_memory=True))
    run.add(LoaderRecord(name="b", batch_size=8, num_workers=0, sampler="S", num_batches=4, pin_memory=False))


def small_batch(run, at):
    sizes = ((32, 9, 0.001), (4, 3, 0.0001), (16, 4, 0.00086))
    times = tuple(BatchTime(rows=rows, steps=steps, seconds=seconds) for rows, steps, seconds in sizes)
    run.within(seconds=2.0).add(*(BatchTimesRecord(times=times, device=each, place=at()) for each in ("cuda", "cpu")))


def thread_oversubscription(run, _at):
    run.within(threads=8, processor=0.79, cores=4).loader(0.01, workers=3)


def unused_cores(run, _at):
    run.within(threads=1, cores=4).loader(0.01, workers=1).operator("mm", 0.3, calls=1400)
    run.operator("conv2d", 0.11, calls=500).operator("bmm", 0.4, calls=9000)


def zeroed_gradients(run, at):
    run.operator("zero_", 0.011, phase="other").operator("fill_", 0.01, phase="optimizer")
    run.operator("_foreach_zero_", 0.01, phase="other").operator("zero_", 0.9, phase="forward")
    run.add(ZeroedRecord(optimizer="seldom", looks=4, zeroed=3, place=at("opt.zero_grad(set_to_none=False)")))
    run.add(ZeroedRecord(optimizer="opt", looks=3, zeroed=3, place=at("opt.zero_grad(set_to_none=False)")))


def _tried(cure, subject, **changes):
    facts = {"what": "forward and backward", "trials": 9, "before": 0.1, "preparation": 0.0}
    return VerifiedRecord(cure=cure, subject=subject, **facts | changes)


SICK = (
    double_precision, evaluation_graph, graph_breaks, host_reads, input_gradient, layout_copies, many_small_operators,
    missing_channels_last, missing_mixed_precision, optimizer_loop, python_loop, recompiles,
    repeated_host_device_copies, restarted_workers, slow_line, slow_loading, slow_transfer, small_batch,
    thread_oversubscription, unused_cores, zeroed_gradients,
)  # fmt: skip
