"""This file tests steps that a loop makes by hand, on cells that are run."""

import pytest
import torch
from torch import nn

from torchmagic.analyses.time_split import time_split
from torchmagic.probes.names import Names
from torchmagic.probes.updates import Updates
from torchmagic.probes.weights import Weights
from torchmagic.records.loop import HandStepsRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.nonfinite import Cause, NonfiniteRecord

DATA = "x = torch.randn(64, 3)\ny = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3\n"
LOOP = """
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for step in range({steps}):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            {update}
            p.grad = None
"""
UPDATES = {
    "in place": "p -= 0.1 * p.grad",
    "added": "p.add_(p.grad, alpha=-0.1)",
    "of the data": "p.data -= 0.1 * p.grad.data",
    "a new value": "p.data = p.data - 0.1 * p.grad",
    "copied": "p.copy_(p - 0.1 * p.grad)",
}


def by_hand(run):
    found = run.of(HandStepsRecord)
    return found[0] if found else None


def test_what_watching_takes_counts_as_no_step_of_the_users(run_cell):
    run, _ = run_cell(DATA + LOOP.format(steps=12, update=UPDATES["in place"]))
    assert sum(time_split(run).values()) == pytest.approx(run.clock.seconds, rel=0.05)


def test_what_is_stepped_by_hand_has_rows_in_the_table_of_parameters(run_cell):
    run, _ = run_cell(DATA + LOOP.format(steps=12, update=UPDATES["in place"]))
    rows = {row["name"]: row for row in run.parameters}
    assert list(rows) == ["w", "b"]
    assert all(row["grad_norm"] > 0 and row["weight_norm"] > 0 and row["update_ratio"] > 0 for row in rows.values())


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES.keys())
def test_each_change_of_what_a_backward_reached_is_a_step(run_cell, update):
    run, _ = run_cell(DATA + LOOP.format(steps=12, update=update))
    assert run.steps == 12
    assert by_hand(run) == HandStepsRecord(steps=12, parameters=("w", "b"), descends=True)
    steps, losses = run.series("loss")
    assert steps == list(range(12))
    assert losses[-1] < 0.5 * losses[0]


def test_gradients_weights_and_updates_are_those_of_each_step(run_cell):
    run, names = run_cell(DATA + LOOP.format(steps=6, update=UPDATES["in place"]))
    assert run.series("grad_norm")[0] == list(range(1, 6))  # before the first one it is not known that it will be one
    for metric in ("grad_norm", "weight_norm", "update_ratio"):
        assert run.series(metric, parameter="w")[0] == list(range(1, 6))
    norms, lengths = run.series("grad_norm", parameter="w")[1], run.series("weight_norm", parameter="w")[1]
    ratios = run.series("update_ratio", parameter="w")[1]
    assert ratios[2] == pytest.approx(0.1 * norms[2] / lengths[2], rel=1e-5)
    assert run.series("weight_norm_at_end", parameter="w")[1] == [pytest.approx(names["w"].detach().norm().item())]


def test_the_bits_are_those_of_the_loop_alone(run_cell):
    source = DATA + LOOP.format(steps=20, update=UPDATES["in place"])
    _, seen = run_cell(source, level="expert")
    alone = {"torch": torch}
    torch.manual_seed(0)
    exec(source, alone)  # noqa: S102 - the source is ours
    assert torch.equal(seen["w"], alone["w"])
    assert torch.equal(seen["b"], alone["b"])


def test_what_follows_a_step_belongs_to_the_next_one(run_cell):
    source = """
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    data = torch.utils.data.TensorDataset(torch.randn(24, 3), torch.randint(2, (24,)))
    for epoch in range(2):
        for x, y in torch.utils.data.DataLoader(data, batch_size=4):
            net.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            with torch.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad
    """
    run, _ = run_cell(source, level="advanced")
    assert run.steps == 12
    assert by_hand(run).parameters == ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")
    assert run.series("batch_wait")[0] == list(range(12))
    assert set(run.series("dead_share", module="net.1")[0]) <= set(range(12))
    assert run.series("seconds", name="forward")[0][:12] == list(range(12))


def test_several_backwards_may_make_one_step(run_cell):
    source = DATA + LOOP.format(steps=5, update=UPDATES["in place"]).replace(
        "    loss.backward()\n", "    loss.backward()\n    (2 * (x @ w + b - y)).abs().mean().backward()\n"
    )
    run, _ = run_cell(source)
    assert run.steps == 5


def test_whoever_measures_a_step_makes_no_graph(run_cell, monkeypatch):
    modes = []
    for kind, method in ((Weights, "_measure"), (Updates, "_compare")):
        original = getattr(kind, method)
        monkeypatch.setattr(
            kind, method, lambda *given, original=original: modes.append(torch.is_grad_enabled()) or original(*given)
        )
    run_cell(DATA + LOOP.format(steps=6, update=UPDATES["in place"]))
    assert len(modes) >= 8
    assert not any(modes)


def test_nobody_looks_through_all_names_at_each_step(run_cell, monkeypatch):
    looks = []
    through = Names.of_kind
    monkeypatch.setattr(Names, "of_kind", lambda *given: looks.append(1) or through(*given))
    run, _ = run_cell(DATA + LOOP.format(steps=40, update=UPDATES["in place"]))
    assert run.steps == 40
    assert len(looks) < 20


def test_nothing_changed_is_no_step(run_cell):
    run, _ = run_cell(DATA + LOOP.format(steps=5, update="pass"))
    assert run.steps == 0
    assert by_hand(run) is None


def test_what_an_optimizer_steps_is_counted_by_it_alone(run_cell):
    source = """
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    for _ in range(8):
        F.mse_loss(net(x), y).backward()
        with torch.no_grad():
            pushes = [0.05 * p.grad / p.grad.norm() for p in net.parameters()]
            for p, push in zip(net.parameters(), pushes): p += push
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        with torch.no_grad():
            for p, push in zip(net.parameters(), pushes): p -= push
        opt.step()
        opt.zero_grad()
    """
    run, _ = run_cell(source)
    assert run.steps == 8
    assert by_hand(run) is None
    assert run.series("grad_norm")[0] == list(range(8))


def test_what_is_met_after_an_optimizer_has_stepped_makes_no_steps_by_hand(run_cell):
    source = """
    net, x = nn.Linear(3, 1), torch.randn(16, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
    other = nn.Linear(3, 1)
    for _ in range(8):
        other.zero_grad()
        other(x).pow(2).mean().backward()
        with torch.no_grad():
            for p in other.parameters(): p -= 0.1 * p.grad
    """
    run, _ = run_cell(source)
    assert run.steps == 4
    assert by_hand(run) is None


def test_a_loop_within_a_loop_that_has_an_optimizer_is_not_the_runs(run_cell):
    source = """
    import copy
    net, x = nn.Linear(3, 1), torch.randn(16, 3)
    meta = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        fast = copy.deepcopy(net)
        for _ in range(3):
            fast.zero_grad()
            fast(x).pow(2).mean().backward()
            with torch.no_grad():
                for p in fast.parameters(): p -= 0.1 * p.grad
        for p, q in zip(net.parameters(), fast.parameters()): p.grad = (p - q).detach()
        meta.step()
    """
    run, _ = run_cell(source)
    assert by_hand(run) is None
    assert len(run.of(OptimizerRecord)) == 1


def test_an_optimizer_that_nobody_can_name_counts_its_steps_alone(run_cell):
    def make():
        net = nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        def step(x):
            net(x).pow(2).mean().backward()
            with torch.no_grad():
                net.weight += 0.01
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            with torch.no_grad():
                net.weight -= 0.01
            opt.step()
            opt.zero_grad()

        return step

    run, _ = run_cell("for _ in range(8): step(torch.ones(4, 3))", names={"step": make()})
    assert run.steps == 8
    assert run.series("grad_norm")[0] == list(range(8))


def test_an_optimizer_of_an_earlier_cell_that_rests_makes_no_difference_after_a_while(run_cell):
    w = torch.zeros(3, 1, requires_grad=True)
    names = {"w": w, "b": torch.zeros(1, requires_grad=True), "opt": torch.optim.SGD([w], lr=0.1)}
    loop = LOOP.format(steps=12, update=UPDATES["in place"]).split("\n", 3)[3]
    run, _ = run_cell(DATA + loop, names=names)
    assert run.steps == 10


def test_an_attack_does_not_descend(run_cell):
    source = """
    net = nn.Linear(3, 2)
    x, y = torch.randn(16, 3), torch.randint(2, (16,))
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(40):
        F.cross_entropy(net(x + delta), y).backward()
        delta.data = (delta + 0.001 * delta.grad.sign()).clamp(-0.2, 0.2)
        delta.grad.zero_()
        net.zero_grad()
    """
    run, _ = run_cell(source)
    assert run.steps == 40
    assert not by_hand(run).descends
    assert not [each for each in run.findings if each.severity != "info"]


def test_weights_that_blow_up_are_traced_to_their_growth(run_cell):
    run, _ = run_cell(DATA + LOOP.format(steps=200, update="p -= 3.0 * p.grad"))
    (record,) = run.of(NonfiniteRecord)
    assert record.cause is Cause.EXPLODED_WEIGHTS
    assert record.began < record.step < run.steps


def test_a_gradient_that_is_not_finite_is_found_on_tensors_of_no_model(run_cell):
    source = DATA + LOOP.format(steps=5, update=UPDATES["in place"]).replace(
        "loss = ((x @ w + b - y) ** 2).mean()", "loss = ((x @ w + b - y) ** 2).mean() + w.norm(p=2, dim=0).sum()"
    ).replace("((x @ w", "((x @ w.abs().sqrt()")
    run, _ = run_cell(source)
    (record,) = run.of(NonfiniteRecord)
    assert (record.step, record.op, record.parameter) == (0, "SqrtBackward0", "w")


def test_the_next_training_on_the_same_line_is_followed_as_well(run_cell):
    source = """
    def train():
        w = torch.ones(4, requires_grad=True)
        for _ in range(6):
            (w ** 2).sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                w.grad = None
    for _ in range(3):
        train()
    """
    run, _ = run_cell(source)
    assert run.steps == 3 * 5  # the last step of each is seen by nobody: its tensors are gone


@pytest.mark.parametrize(
    "new",
    ["(p - 0.1 * p.grad).detach().requires_grad_()", "torch.tensor((p - 0.1 * p.grad).tolist(), requires_grad=True)"],
)
def test_new_tensors_that_went_down_their_gradients_are_those_of_the_step(run_cell, new):
    source = (
        DATA
        + """
w, b = torch.zeros(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for step in range(12):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    w, b = [NEW for p in (w, b)]
"""
    )
    run, _ = run_cell(source.replace("NEW", new))
    assert run.steps == 12  # the last one is followed by nothing, but its tensors have the same names
    assert by_hand(run).parameters == ("w", "b")
    assert run.series("grad_norm", parameter="b")[0] == list(range(1, 12))


def test_new_batches_that_ask_for_a_gradient_are_no_steps(run_cell):
    source = """
    net = nn.Linear(3, 2)
    for p in net.parameters(): p.requires_grad_(False)
    for _ in range(12):
        x = torch.randn(16, 3, requires_grad=True)
        F.cross_entropy(net(x), torch.randint(2, (16,))).backward()
        x = (x + 0.1 * x.grad.sign()).detach().requires_grad_()
        net(x)
    """
    run, _ = run_cell(source)
    assert run.steps == 0


def test_losses_on_several_lines_step_on_the_union_of_what_they_reach(run_cell):
    net = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(2, 1)})
    source = """
    x = torch.randn(8, 2)
    for _ in range(6):
        for part in net.values():
            part.zero_grad()
        net["a"](x).pow(2).mean().backward()
        with torch.no_grad():
            for p in net["a"].parameters(): p -= 0.1 * p.grad
        net["b"](x).pow(2).mean().backward()
        with torch.no_grad():
            for p in net["b"].parameters(): p -= 0.1 * p.grad
    """
    run, _ = run_cell(source, names={"net": net})
    assert run.steps == 12
    assert len(by_hand(run).parameters) == 4
