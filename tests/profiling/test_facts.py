"""This file tests the facts beside a profile: what is seen of a cell's models, optimizers, batches and compilations."""

import itertools
import linecache
import textwrap
import time

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.profiling import pace_facts
from torchmagic.profiling.facts import facts
from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.note import FailureRecord
from torchmagic.records.speed import (
    BatchTimesRecord,
    EvaluationGraphRecord,
    ForwardRecord,
    HardwareRecord,
    InputGradientRecord,
    StepRecord,
    WorkerStartRecord,
    ZeroedRecord,
)
from torchmagic.session.session import Session

NUMBERS = itertools.count(1)
HEAD = """
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""


def seen(source, *others):
    """Run a cell beside the facts, and other probes, alone."""
    source, file = textwrap.dedent(HEAD) + textwrap.dedent(source), f"<facts {next(NUMBERS)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"__name__": "__main__", "torch": torch, "nn": nn}
    torch.manual_seed(0)
    settings = Settings(save=False, only=("performance",))
    watching = Watch(settings, namespace=names, source=source, session=Session(), beside=(*others, *facts(names)))
    run = watching.start()
    try:
        exec(compile(source, file, "exec"), names)  # noqa: S102 - the sources are ours
    finally:
        watching.stop()
    assert not run.of(FailureRecord)
    return run


LOOP = """
for _ in range({steps}):
    opt.zero_grad({zero})
    net({x}).square().mean().backward()
    opt.step()
"""


def loop(*, steps=6, zero="", x="torch.ones(8, 4)"):
    return LOOP.format(steps=steps, zero=zero, x=x)


def test_the_machine_and_the_model_are_told_once():
    run = seen(loop())
    (machine,), (model,) = run.of(HardwareRecord), run.of(ForwardRecord)
    assert (machine.device, machine.threads) == ("cpu", torch.get_num_threads())
    assert machine.capability == torch.backends.cpu.get_cpu_capability()
    assert (model.model, model.convolutions, model.autocast, model.compiled) == ("net", 0, False, False)
    assert model.place.source == "net(torch.ones(8, 4)).square().mean().backward()"


@pytest.mark.parametrize(("turn", "turned"), [("", 0), (".to(memory_format=torch.channels_last)", 2)])
def test_memory_formats_are_seen(turn, turned):
    run = seen(f"""
        net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)){turn}
        net(torch.ones(2, 3, 8, 8){turn})
    """)
    (model,) = run.of(ForwardRecord)
    assert (model.convolutions, model.channels_last, model.input_channels_last) == (2, turned, bool(turned))


def test_autocast_around_a_model_is_seen():
    run = seen("with torch.autocast('cpu', dtype=torch.bfloat16): net(torch.ones(8, 4))")
    assert run.of(ForwardRecord)[0].autocast


def test_an_evaluation_is_no_training():
    assert not seen("with torch.no_grad(): net(torch.ones(8, 4))").of(ForwardRecord)


def test_an_optimizer_tells_how_it_goes_through_its_parameters():
    (step,) = seen("opt = torch.optim.AdamW(net.parameters(), foreach=False)" + loop()).of(StepRecord)
    assert (step.optimizer, step.class_name, step.built_in) == ("opt", "AdamW", True)
    assert (step.parameters, step.elements, step.foreach, step.fused, step.can_fuse) == (2, 10, False, None, True)
    assert step.place.source == "opt.step()"


def test_a_class_of_ones_own_cannot_be_fused():
    run = seen("""
        class Mine(torch.optim.Optimizer):
            def step(self, closure=None):
                for group in self.param_groups:
                    for each in group["params"]:
                        each.data.sub_(each.grad)
        opt = Mine(net.parameters(), {})
        net(torch.ones(8, 4)).mean().backward()
        opt.step()
    """)
    (step,) = run.of(StepRecord)
    assert (step.built_in, step.can_fuse) == (False, False)


@pytest.mark.parametrize(("zero", "told"), [("set_to_none=False", 1), ("", 0), ("True", 0), ("False", 1)])
def test_zeros_in_the_place_of_gradients_are_seen(zero, told):
    found = seen(loop(zero=zero)).of(ZeroedRecord)
    assert len(found) == told
    assert all((each.optimizer, each.zeroed, each.looks) == ("opt", 4, 4) for each in found)


def test_an_input_that_gets_a_gradient_is_seen():
    run = seen("""
        for _ in range(6):
            opt.zero_grad()
            x = torch.ones(8, 4, requires_grad=True)
            net(x).square().mean().backward()
            opt.step()
    """)
    (found,) = run.of(InputGradientRecord)
    assert (found.model, found.shape, found.place.source) == ("net", (8, 4), "net(x).square().mean().backward()")
    assert found.steps == found.looks >= 2


def test_an_input_that_is_itself_trained_is_left_out():
    run = seen("""
        x = torch.ones(8, 4, requires_grad=True)
        opt = torch.optim.SGD([x], lr=0.1)
        for _ in range(6):
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
    """)
    assert not run.of(InputGradientRecord)


def test_steps_are_told_by_their_rows(monkeypatch):
    monkeypatch.setattr(pace_facts.time, "thread_time_ns", time.perf_counter_ns)  # nothing is kept waiting
    (found,) = seen(loop(steps=9, x="torch.ones(8 if _ % 4 else 2, 4)")).of(BatchTimesRecord)
    assert [(each.rows, each.steps) for each in found.times] == [(8, 6), (2, 2)]
    assert all(0 < each.seconds < 1 for each in found.times)


def test_a_step_that_was_kept_waiting_says_nothing_of_its_rows():
    steps = loop(steps=13, x="torch.ones(8 if _ % 4 else 2, 4)")
    (found,) = seen("import time\n" + steps + "    time.sleep(0.1 * (_ % 4 == 3))\n").of(BatchTimesRecord)
    assert sum(each.steps for each in found.times) <= 9
    assert all(0 < each.seconds < 0.1 for each in found.times)


class Slow:
    """A probe that works for long as every other step closes."""

    def attach(self, taps, recorder):
        pass

    def flush(self, step):
        began = time.thread_time()
        while step % 2 and time.thread_time() < began + 0.05:
            pass

    def detach(self):
        pass


def test_what_a_probe_takes_counts_to_no_step():
    (found,) = seen(loop(steps=9, x="torch.ones(1 + _ % 2, 4)"), Slow()).of(BatchTimesRecord)
    assert all(0 < each.seconds < 0.05 for each in found.times)


def test_steps_with_an_evaluation_are_left_out():
    source = loop(steps=5) + "    with torch.no_grad(): net(torch.ones(8, 4))\n"
    assert not seen(source).of(BatchTimesRecord)


EVALUATION = """
for epoch in range(2):
    net.train()
    opt.zero_grad()
    net(torch.ones(8, 4)).mean().backward()
    opt.step()
    net.eval()
    for _ in range(3):
        with torch.set_grad_enabled({grad}):
            net(torch.ones(8, 4))
"""


@pytest.mark.parametrize(("grad", "batches"), [("True", [6]), ("False", [])])
def test_an_evaluation_that_records_a_graph_is_seen(grad, batches):
    found = seen(EVALUATION.format(grad=grad)).of(EvaluationGraphRecord)
    assert [each.batches for each in found] == batches
    assert all(each.model == "net" and 0 < each.seconds < each.run_seconds for each in found)


def test_a_model_that_is_trained_in_evaluation_mode_is_no_evaluation():
    assert not seen("net.eval()" + loop()).of(EvaluationGraphRecord)


def test_a_gradient_of_the_input_in_evaluation_mode_is_no_evaluation():
    assert not seen("net.eval(); x = torch.ones(8, 4, requires_grad=True); y = net(x)").of(EvaluationGraphRecord)


def test_starting_workers_is_timed_for_each_pass():
    run = seen("""
        from torch.utils.data import DataLoader, TensorDataset
        data = DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=4, num_workers=1)
        for _ in range(2):
            for (x,) in data:
                pass
        for (x,) in DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=4):
            pass
    """)
    (found,) = run.of(WorkerStartRecord)
    assert (found.loader, found.workers, found.passes, found.persistent) == ("data", 1, 2, False)
    assert 0 < found.first < found.seconds < 60
    assert found.place.source == "for (x,) in data:"


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch's compiler looks at every tensor
def test_what_is_compiled_again_and_cut_is_told():
    run = seen("""
        torch._dynamo.reset()
        def loss(y):
            y = y * 2
            print(y.shape)
            return y.mean()
        compiled = torch.compile(loss, backend="eager", dynamic=False)
        for rows in (2, 3, 4):
            compiled(net(torch.ones(rows, 4)))
    """)
    (record,) = run.of(CompilationRecord)
    (function,) = record.functions
    assert (function.times, function.place.function, function.place.source) == (3, "loss", "def loss(y):")
    assert function.reasons[0].startswith("tensor 'y' size mismatch at index 0")
    assert [cut.source for cut in function.cuts] == ["print(y.shape)"]
    assert "print" in function.breaks[0]
    assert 0 < function.seconds == record.seconds


def test_nothing_compiled_is_nothing_told():
    assert not seen(loop()).of(CompilationRecord)
