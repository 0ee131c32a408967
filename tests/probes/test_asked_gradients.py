"""This file tests gradients that are asked for as values, by ``torch.autograd.grad`` and ``torch.func``."""

import pytest
import torch

from torchmagic.analyses.time_split import time_split
from torchmagic.probes.losses import MOST_ASKED
from torchmagic.probes.names import Names
from torchmagic.records.loop import HandStepsRecord
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord

DATA = """
from torch.func import functional_call, grad, grad_and_value
x = torch.randn(64, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3
w, b = torch.zeros(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
params = {"w": torch.zeros(3, 1), "b": torch.zeros(1)}
said, lengths = [], []
def loss_of(params, x, y):
    return ((x @ params["w"] + params["b"] - y) ** 2).mean()
def length(gradients):
    return torch.cat([g.flatten() for g in gradients]).norm().item()
"""
ASKED = """
for step in range(12):
    loss = ((x @ w + b - y) ** 2).mean()
    gradients = torch.autograd.grad(loss, (w, b))
    {update}
    said.append(loss.item()), lengths.append(length(gradients))
"""
TRANSFORMED = """
for step in range(12):
    gradients, loss = grad_and_value(loss_of)(params, x, y)
    {update}
    said.append(loss.item()), lengths.append(length(gradients.values()))
"""
LOOPS = {
    "in place": ASKED.format(update="with torch.no_grad(): w -= 0.1 * gradients[0]; b -= 0.1 * gradients[1]"),
    "new tensors": ASKED.format(
        update="w, b = [(p - 0.1 * g).detach().requires_grad_() for p, g in zip((w, b), gradients)]"
    ),
    "a function's": TRANSFORMED.format(update="params = {k: v - 0.1 * gradients[k] for k, v in params.items()}"),
    "a function's, in place": TRANSFORMED.format(update="for k in params: params[k] -= 0.1 * gradients[k]"),
}
LOOPS["a function's, in another order"] = """
def loss_of_two(bias, weight, x):
    return loss_of({"w": weight, "b": bias}, x, y)
a, c = torch.zeros(3, 1), torch.zeros(1)
for step in range(12):
    gradients, loss = grad_and_value(loss_of_two, argnums=(0, 1))(c, a, x)
    c, a = c - 0.1 * gradients[0], a - 0.1 * gradients[1]
    said.append(loss.item()), lengths.append(length(gradients))
"""
NET = """
from torch.func import functional_call, grad
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
x, y = torch.randn(32, 4), torch.randint(3, (32,))
"""


@pytest.mark.parametrize("level", ["basic", "expert"])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_on_gradients_that_it_asks_for_is_a_training(run_cell, loop, level):
    run, names = run_cell(DATA + loop, level=level)
    called = ("a", "c") if "argnums" in loop else ("w", "b")
    called = ("params['w']", "params['b']") if "params," in loop else called
    assert run.of(HandStepsRecord) == [HandStepsRecord(steps=12, parameters=called, descends=True)]
    assert run.steps == 12
    assert run.series("loss") == (list(range(12)), pytest.approx(names["said"]))
    steps, norms = run.series("grad_norm")
    assert steps == list(range(1, 12))  # before the first one it is not known that it will be one
    assert norms == pytest.approx(names["lengths"][1:])
    assert not run.findings


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_the_bits_are_those_of_the_loop_alone(run_cell, loop):
    _, seen = run_cell(DATA + loop, level="expert")
    alone = {"torch": torch}
    torch.manual_seed(0)
    exec(DATA + loop, alone)  # noqa: S102 - the source is ours
    assert seen["said"] == alone["said"]
    for one, other in ((seen["w"], alone["w"]), (seen["params"]["w"], alone["params"]["w"])):
        assert torch.equal(one, other)


def test_a_rule_of_the_users_own_is_a_step_of_a_function_too(run_cell):
    source = """
    speed = {k: torch.zeros_like(v) for k, v in params.items()}
    for step in range(40):
        gradients, (loss, _) = grad_and_value(lambda p: (loss_of(p, x, y), p["w"]), has_aux=True)(params)
        speed = {k: 0.95 * speed[k] + gradients[k] for k in params}
        params = {k: v - 0.1 * speed[k] for k, v in params.items()}
        said.append(loss.item())
    """
    run, names = run_cell(DATA + "\n".join(line[4:] for line in source.splitlines()))
    rises = sum(after > before for before, after in zip(names["said"], names["said"][1:], strict=False))
    assert rises > 5  # so that steps go uphill as well
    assert run.series("loss") == (list(range(40)), pytest.approx(names["said"]))


def test_the_time_of_a_gradient_that_is_asked_for_is_that_of_a_backward(run_cell):
    for loop in LOOPS.values():
        run, _ = run_cell(DATA + loop)
        assert time_split(run)["backward"] > 0


def test_a_loss_whose_gradients_are_assigned_is_that_of_the_step(run_cell):
    source = (
        NET
        + """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
said = []
for step in range(9):
    objective = F.cross_entropy(net(x), y)
    for p, g in zip(net.parameters(), torch.autograd.grad(objective, list(net.parameters()))):
        p.grad = g
    opt.step()
    said.append(objective.item())
"""
    )
    run, names = run_cell(source)
    assert run.series("loss", name="objective") == (list(range(9)), pytest.approx(names["said"]))
    assert [record.name for record in run.of(BackwardRecord)] == ["objective"]


@pytest.mark.parametrize(
    "inner",
    [
        "inner = torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()), create_graph=True)",
        "inner = grad(lambda p: functional_call(net, p, (x,)).square().mean())(dict(net.named_parameters())).values()",
    ],
)
def test_what_a_backward_follows_is_no_loss_of_the_step(run_cell, inner):
    source = (
        NET
        + f"""
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    {inner}
    loss = F.cross_entropy(net(x), y) + 0.01 * sum(g.square().sum() for g in inner)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    )
    run, _ = run_cell(source)
    assert run.steps == 9
    assert [record.name for record in run.of(BackwardRecord)] == ["loss"]
    assert len(run.series("loss", name="loss")[1]) == 9
    assert run.of(HandStepsRecord) == []


HARMLESS = {
    "an attack": """
a = x.clone().requires_grad_()
for _ in range(20):
    (g,) = torch.autograd.grad(F.cross_entropy(net(a), y), a)
    a = (a + 0.01 * g.sign()).detach().requires_grad_()
""",
    "one sample after the other": """
for a in x:
    grad(lambda a: net(a).square().sum())(a)
""",
    "a path": """
for k in range(20):
    grad(lambda a: net(a)[:, 0].sum())(x * k / 20)
""",
    "weights that stay": """
for a, b in zip(x, y):
    torch.autograd.grad(F.cross_entropy(net(a[None]), b[None]), list(net.parameters()))
""",
    "samples at a time": """
p = {k: v.detach() for k, v in net.named_parameters()}
for _ in range(5):
    torch.vmap(grad(lambda p, a: functional_call(net, p, (a,)).square().sum()), (None, 0))(p, x)
""",
    "poles": """
grad(torch.log)(torch.tensor(0.0)), grad(torch.sqrt)(torch.tensor(0.0)), grad(torch.log)(torch.tensor(-1.0))
""",
}


@pytest.mark.parametrize("loop", HARMLESS.values(), ids=HARMLESS.keys())
def test_gradients_on_which_nothing_steps_are_no_training(run_cell, loop):
    run, _ = run_cell(NET + loop)
    assert run.steps == 0
    assert run.of(HandStepsRecord) == []
    assert run.series("loss") == ([], [])
    assert not run.findings


def test_a_gradient_that_is_not_finite_in_the_first_call_is_told_once_it_steps(run_cell):
    source = """
from torch.func import grad
x = torch.randn(8, 3)
def loss_of(w):
    return (x @ w).square().sum(1).sqrt().mean()
w = torch.zeros(3, 2)
for _ in range({calls}):
    w = w - 0.1 * grad(loss_of)(w)
"""
    once, _ = run_cell(source.format(calls=1).replace("w = w -", "_ = w -"))
    assert once.of(NonfiniteRecord) == []
    run, _ = run_cell(source.format(calls=3))
    (record,) = run.of(NonfiniteRecord)
    assert (record.birth, record.step, record.op, record.parameter) == (Birth.GRADIENT, 0, "SqrtBackward0", "w")
    assert (record.cause, record.place.line, record.proven) == (Cause.SQRT_AT_ZERO, 5, True)


def test_what_is_differentiated_beside_a_training_is_not_its_loss(run_cell):
    source = (
        NET
        + """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    for at in (0.0, -1.0):
        grad(lambda a: (net(a) * 0).log().sum())(x), grad(torch.log)(torch.tensor(at))
"""
    )
    run, _ = run_cell(source)
    assert not run.findings
    assert len(run.series("loss")[1]) == 6


SGD = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
VJP = """
given = dict(net.named_parameters())
_, back = torch.func.vjp(lambda p: (functional_call(net, p, (x,)) * 0).square().sum(1).sqrt().mean(), given)
for name, g in back(torch.tensor(1.0))[0].items():
    given[name].grad = g
opt.step()
"""


def test_a_gradient_without_a_loss_that_was_seen_claims_none(run_cell):
    run, _ = run_cell(NET + SGD + VJP)
    (record,) = run.of(NonfiniteRecord)
    assert record.without_loss
    (finding,) = [each for each in run.findings if each.rule == "nonfinite-gradient"]
    assert "although the loss is finite" not in finding.title + finding.why


@pytest.mark.parametrize(
    "call",
    [
        "grad(torch.sum, argnums=3)(x)",
        "grad(torch.sum)()",
        "grad(lambda a: a)(x)",
        "grad(lambda a: 1 / 0)(x)",
        "torch.autograd.grad(x.sum(), x)",
    ],
)
def test_what_torch_refuses_is_refused_as_without_us(run_cell, call):
    source = f"""
import traceback
{NET}
try:
    {call}
except Exception as error:
    frames = [(each.name, each.lineno) for each in traceback.extract_tb(error.__traceback__)[1:]]
    said = type(error), str(error), frames
"""
    _, names = run_cell(source)
    alone = {"torch": torch, "nn": torch.nn}
    exec(source, alone)  # noqa: S102 - the source is ours
    assert names["said"] == alone["said"]


@pytest.mark.parametrize("name", ["new tensors", "a function's"])
def test_what_is_known_of_the_steps_before_holds_for_new_tensors(run_cell, name):
    loop = LOOPS[name].replace("range(12)", "range(60)")
    loop = loop.replace("loss = (", "loss = (1 + 1e8 * (step == 40)) * (").replace(
        "x, y)", "x, y + 1e8 * (step == 40))", 1
    )
    run, names = run_cell(DATA + loop, level="basic", budget=0.0, every=None)
    assert names["lengths"][40] > 100 * max(names["lengths"][5:40])
    assert 40 in run.series("grad_norm", parameter=run.of(HandStepsRecord)[0].parameters[0])[0]


def test_a_compiled_step_on_a_function_is_compiled_once_and_gives_the_same(run_cell):
    source = (
        DATA
        + """
@torch.compile(backend="aot_eager")
def step(params):
    gradients, loss = grad_and_value(loss_of)(params, x, y)
    return {k: v - 0.1 * gradients[k] for k, v in params.items()}
for _ in range(3):
    params = step(params)
"""
    )
    torch._dynamo.reset()
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    _, names = run_cell(source)
    alone = names["step"](names["params"])
    run, names = run_cell("for _ in range(2):\n    params = step(params)", names=names)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == before + 1
    assert run.steps == 0
    assert torch.equal(names["step"](alone)["w"], names["params"]["w"])


def test_what_a_model_differentiates_inside_is_part_of_its_forward(run_cell):
    source = (
        NET
        + """
class Forces(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    def forward(self, x):
        first = grad(lambda p, x: functional_call(self.energy, p, (x,)).sum())(dict(self.energy.named_parameters()), x)
        second = torch.autograd.grad(self.energy(x).sum(), list(self.parameters()), create_graph=True)
        return second[0] + first["0.weight"]
forces = Forces()
opt = torch.optim.SGD(forces.parameters(), lr=0.01)
said = []
for _ in range(6):
    loss = (forces(x) - 1).square().mean()
    for p, g in zip(forces.parameters(), torch.autograd.grad(loss, list(forces.parameters()), allow_unused=True)):
        p.grad = g
    opt.step()
    said.append(loss.item())
"""
    )
    run, names = run_cell(source)
    assert run.series("loss") == (list(range(6)), pytest.approx(names["said"]))


def test_a_perturbation_before_an_optimizers_step_is_no_step(run_cell):
    source = (
        NET
        + """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
weights = list(net.parameters())
for _ in range(6):
    gradients = torch.autograd.grad(F.cross_entropy(net(x), y), weights)
    with torch.no_grad():
        for w, g in zip(weights, gradients): w += 0.05 * g
    for w, g in zip(weights, torch.autograd.grad(F.cross_entropy(net(x), y), weights)): w.grad = g
    with torch.no_grad():
        for w, g in zip(weights, gradients): w -= 0.05 * g
    opt.step()
"""
    )
    run, _ = run_cell(source)
    assert run.steps == 6


def test_names_are_looked_for_a_few_times_however_many_samples_come(run_cell, monkeypatch):
    looks, through = [], Names.of_tensors
    monkeypatch.setattr(Names, "of_tensors", lambda *given: looks.append(1) or through(*given))
    run_cell(NET + "for a in torch.randn(300, 4):\n    grad(lambda a: net(a).square().sum())(a)\n")
    assert len(looks) < 60


def test_the_loss_of_an_earlier_step_says_nothing_of_this_ones(run_cell):
    run, _ = run_cell(NET + SGD + "F.cross_entropy(net(x), y).backward()\nopt.step()\n" + VJP)
    (record,) = run.of(NonfiniteRecord)
    assert record.step == 1
    assert record.without_loss


def test_of_a_step_on_many_losses_a_few_are_kept(run_cell):
    source = (
        NET
        + """
opt, weights = torch.optim.SGD(net.parameters(), lr=0.01), list(net.parameters())
for _ in range(2):
    found = [torch.autograd.grad(F.cross_entropy(net(x), y), weights) for _ in range(40)]
    for w, *slopes in zip(weights, *found): w.grad = sum(slopes)
    opt.step()
"""
    )
    run, _ = run_cell(source)
    steps, _ = run.series("loss")
    assert set(steps) == {0, 1}
    assert len(steps) <= 2 * MOST_ASKED
