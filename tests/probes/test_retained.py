"""This file tests that graphs which outlive their step are counted, and named by the variable that holds them."""

import gc
from typing import ClassVar

import pytest

from torchmagic.probes.retained import MOST_MARKS
from torchmagic.probes.variables import variables
from torchmagic.records.memory import RetainedGraphRecord

START = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
{before}
for step in range({steps}):
    opt.zero_grad()
    loss = net(torch.randn(16, 4)).pow(2).mean()
    loss.backward({arguments})
    opt.step()
    {after}
"""


def loop(before="", after="", *, steps=20, arguments=""):
    return START.format(before=before, after=after, steps=steps, arguments=arguments)


def retained(run):
    return run.of(RetainedGraphRecord)


@pytest.mark.parametrize(
    ("before", "after", "holder"),
    [
        ("losses = []", "losses.append(loss)", "losses"),
        ("total = 0", "total += loss", "total"),
        ("total = 0", "total = total + loss", "total"),
        ("history = {'loss': []}", "history['loss'].append(loss)", "history"),
        ("rows = []", "rows.append((step, loss))", "rows"),
        ("from collections import deque; recent = deque(maxlen=32)", "recent.append(loss)", "recent"),
        (
            "class Trainer: pass\ntrainer = Trainer(); trainer.losses = []",
            "trainer.losses.append(loss)",
            "trainer.losses",
        ),
        ("net.kept = []", "net.kept.append(loss)", "net.kept"),
        (
            "from types import SimpleNamespace; monitor = SimpleNamespace(curves={'loss': [(0, 0)]})",
            "monitor.curves['loss'].append((loss, step))",
            "monitor.curves",
        ),
    ],
)
def test_what_holds_the_graphs_is_named(run_cell, before, after, holder):
    run, _ = run_cell(loop(before, after))
    record = retained(run)[0]
    assert record.holders == (holder,)
    assert (record.oldest, record.count) == (0, 7)
    assert record.step == 8
    assert record.num_bytes is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("losses = []", "losses.append(loss.item())"),
        ("losses = []", "losses.append(loss.detach())"),
        ("total = 0", "total += loss.item()"),
        ("last = []", "last = [loss]"),
        ("best = None", "best = loss if step == 3 else best"),
        ("", "with torch.no_grad(): net(torch.randn(4, 4))"),
        ("", "validation = net(torch.randn(4, 4)).mean()"),
        ("", "if step % 20 == 19: a, b, c, d = (net(torch.randn(4, 4)) for _ in range(4))"),
    ],
)
def test_a_healthy_loop_is_silent(run_cell, before, after):
    run, _ = run_cell(loop(before, after, steps=70))
    assert retained(run) == []
    assert max(run.series("live_graphs")[1]) <= 4


def test_a_local_variable_is_counted_and_not_named(run_cell):
    source = "\n    ".join(loop("losses = []", "losses.append(loss)").strip().splitlines())
    run, _ = run_cell(f"def train():\n    {source}\ntrain()")
    assert retained(run)[0].count >= 4
    assert (retained(run)[0].holders, retained(run)[0].num_bytes) == ((), None)


def test_an_evaluation_with_gradients_on_whose_losses_are_kept_is_named_with_its_bytes(run_cell):
    run, _ = run_cell(
        loop("validation = []")
        + """
    if step == 3:
        for batch in range(30):
            validation.append(net(torch.randn(16, 4)).pow(2).mean())
"""
    )
    record = retained(run)[0]
    assert record.holders == ("validation",)
    # the input, the rectified hidden layer, and the output that is squared
    one = 16 * 4 * 4 + 16 * 8 * 4 + 16 * 1 * 4
    assert record.num_bytes == 30 * one


def test_graphs_that_are_retained_keep_their_bytes_and_others_do_not(run_cell):
    kept = retained(run_cell(loop("losses = []", "losses.append(loss)", arguments="retain_graph=True"))[0])
    freed = retained(run_cell(loop("losses = []", "losses.append(loss)"))[0])
    assert kept[0].num_bytes > 0
    assert freed[0].num_bytes == 0


def test_a_loop_without_a_model_is_watched_by_its_losses(run_cell):
    run, _ = run_cell(
        """
        w, losses = torch.zeros(3, requires_grad=True), []
        opt = torch.optim.SGD([w], lr=0.1)
        for step in range(10):
            loss = (w - 1).pow(2).sum()
            loss.backward()
            opt.step()
            losses.append(loss)
        """
    )
    assert retained(run)[0].holders == ("losses",)


def test_the_count_grows_with_the_run_and_the_marks_do_not(run_cell):
    run, _ = run_cell(loop("losses = []", "losses.append(loss)", steps=1_000))
    counts = run.series("live_graphs")[1]
    assert counts == sorted(counts)
    assert counts[-1] == pytest.approx(1_000, rel=0.2)
    assert len(retained(run)) <= 9
    assert MOST_MARKS < 100


def test_many_graphs_of_one_step_do_not_hide_those_of_many(run_cell):
    """A first burst is told with the steps that it spans, and what lives on after it as well."""
    after = "losses.append(loss)\n    burst = [net(torch.randn(4, 4)) for _ in range(40)] if step == 0 else burst"
    run, _ = run_cell(loop("losses, burst = [], []", after, steps=20))
    first, *_, last = retained(run)
    assert first.step - first.oldest < 5
    assert last.step - last.oldest >= 8


class Trap:
    """Notes down whatever runs code of its own."""

    asked: ClassVar[list[str]] = []

    def __init__(self):
        self.kept = [1]

    def __getattr__(self, name):
        self.asked.append(name)
        raise AttributeError(name)

    @property
    def loss(self):
        self.asked.append("loss")


class Items(list):
    """Notes down how it is read."""

    def __getitem__(self, i):
        Trap.asked.append("item")
        return super().__getitem__(i)

    def __iter__(self):
        Trap.asked.append("iter")
        return super().__iter__()


def test_variables_are_read_without_running_code_of_the_user(monkeypatch):
    monkeypatch.setattr(Trap, "asked", [])
    found = list(variables({"trap": Trap(), "items": Items([7]), "_hidden": 1, "Out": {1: 2}, "table": {"a": [3]}}))
    assert Trap.asked == []
    assert [name for name, _ in found] == [
        "trap",
        "trap.kept",
        "trap.kept",
        "items",
        "items",
        "table",
        "table",
        "table",
    ]
    assert found[4][1] == 7


def test_the_graphs_themselves_are_not_held(run_cell):
    _, names = run_cell(loop("import weakref; refs = []", "refs.append(weakref.ref(loss))", steps=40))
    assert sum(ref() is not None for ref in names["refs"]) == 1
    names.clear()
    gc.collect()


METER = """
class Meter:
    def __init__(self, beta=0.9):
        self.beta, self.value, self.num = beta, 0.0, 0

    def update(self, x):
        self.num += 1
        self.value = self.beta * self.value + 0.1 * x
"""


@pytest.mark.parametrize("after", ["meter.update(loss)", "meter.value = meter.value + loss"])
def test_a_class_from_another_cell_is_read_for_the_line_that_keeps_the_graph(after, run_cell):
    _, names = run_cell(METER)
    run, _ = run_cell(loop("meter = Meter()", after), names={"Meter": names["Meter"]})
    place = retained(run)[-1].place
    wanted = "self.value = self.beta * self.value + 0.1 * x" if "update" in after else after
    assert place.source == wanted
    assert place.function == ("update" if "update" in after else "<module>")


RECORDER = """
class Recorder:
    def __init__(self, net):
        self.outputs = {}
        net.register_forward_hook(self.hook_for("net"))

    def hook_for(self, name):
        def hook(module, given, output):
            self.outputs.setdefault(name, []).append(output)
        return hook
"""


def test_a_hook_that_a_method_of_another_cell_makes_is_read_for_the_line_that_keeps_the_graph(run_cell):
    _, names = run_cell(RECORDER)
    run, _ = run_cell(loop("recorder = Recorder(net)", "pass"), names={"Recorder": names["Recorder"]})
    place = retained(run)[-1].place
    assert place.source == "self.outputs.setdefault(name, []).append(output)"
    assert place.function == "hook"
