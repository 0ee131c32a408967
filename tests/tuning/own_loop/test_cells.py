"""A cell's step is found however it is written, and measured without a trace of it."""

import math

import numpy as np
import pytest
import torch
from torch.utils._pytree import tree_leaves

from torchmagic.probes import sites
from torchmagic.records.benchmark import ModeResult
from torchmagic.tuning.own_loop.no_step import NoStepError

LOOP = """
for epoch in range(2):
    model.train()
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
"""
# Each with what a step of it is.
CELLS = {
    "a loop": (LOOP, "one pass of the loop at line 4"),
    "a loop that resets at its end": (
        (
            "for inputs, targets in loader:\n"
            "    F.cross_entropy(model(inputs), targets).backward()\n"
            "    optimizer.step()\n"
            "    optimizer.zero_grad()\n"
        ),
        "one pass of the loop at line 1",
    ),
    "everything in the cell": (
        (
            "net = nn.Linear(6, 3)\n"
            "sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
            "schedule = torch.optim.lr_scheduler.StepLR(sgd, 2)\n"
            "for i, (inputs, targets) in enumerate(loader):\n"
            "    if i == 1: continue\n"
            "    sgd.zero_grad()\n"
            "    out: torch.Tensor = net(inputs)\n"
            "    (F.cross_entropy(out, targets) + 1e-3 * sum(p.square().sum() for p in net.parameters())).backward()\n"
            "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
            "    sgd.step()\n"
            "    schedule.step()\n"
        ),
        "one pass of the loop at line 4",
    ),
    "a function with the loop": (
        (
            "def train(model, loader, optimizer, epochs=2):\n"
            "    total: float = 0.0\n"
            "    for epoch in range(epochs):\n"
            "        for inputs, targets in loader:\n"
            "            optimizer.zero_grad()\n"
            "            loss = criterion(model(inputs), targets)\n"
            "            loss.backward()\n"
            "            optimizer.step()\n"
            "            total += loss.item()\n"
            "    return total\n"
            "print(train(model, loader, optimizer))\n"
        ),
        "one pass of the loop at line 4, in train()",
    ),
    "a step in a function": (
        (
            "def step(inputs, targets):\n"
            "    optimizer.zero_grad()\n"
            "    loss = criterion(model(inputs), targets)\n"
            "    loss.backward()\n"
            "    optimizer.step()\n"
            "    return loss.detach()\n"
            "history = []\n"
            "for inputs, targets in loader:\n"
            "    history.append(step(inputs, targets))\n"
        ),
        "one pass of the loop at line 8",
    ),
    "a step that is only defined": (
        (
            "def step(model, optimizer, inputs, targets, scale=1.0):\n"
            "    optimizer.zero_grad()\n"
            "    (scale * criterion(model(inputs), targets)).backward()\n"
            "    optimizer.step()\n"
        ),
        "one pass of the loop that calls step()",
    ),
    "a training that is only defined": (
        (
            "def train(model, loader, optimizer):\n"
            "    for inputs, targets in loader:\n"
            "        optimizer.zero_grad()\n"
            "        criterion(model(inputs), targets).backward()\n"
            "        optimizer.step()\n"
        ),
        "one pass of the loop at line 2, in train()",
    ),
    "one step without a loop": (
        "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()\nprint(loss)\n",
        "the cell without what defines and makes things",
    ),
    "a trainer with methods": (
        (
            "class Trainer:\n"
            "    def __init__(self, net, loader):\n"
            "        self.net, self.loader, self.seen = net, loader, 0\n"
            "        self.sgd = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "    def step(self, inputs, targets):\n"
            "        self.sgd.zero_grad(set_to_none=False)\n"
            "        F.cross_entropy(self.net(inputs), targets).backward()\n"
            "        self.sgd.step()\n"
            "    def fit(self):\n"
            "        for inputs, targets in self.loader:\n"
            "            self.step(inputs, targets)\n"
            "            self.seen += len(inputs)\n"
            "Trainer(model, loader).fit()\n"
        ),
        "one pass of the loop at line 10, in fit()",
    ),
    "gradients of several batches": (
        (
            "for i, (inputs, targets) in enumerate(loader):\n"
            "    (criterion(model(inputs), targets) / 2).backward()\n"
            "    if i % 2 == 0:\n"
            "        optimizer.step()\n"
            "        optimizer.zero_grad()\n"
        ),
        "one pass of the loop at line 1",
    ),
    "a while loop over an iterator": (
        (
            "batches, number = iter(loader), 0\n"
            "while number < 1000:\n"
            "    try:\n"
            "        inputs, targets = next(batches)\n"
            "    except StopIteration:\n"
            "        batches = iter(loader)\n"
            "        continue\n"
            "    optimizer.zero_grad()\n"
            "    criterion(model(inputs), targets).backward()\n"
            "    optimizer.step()\n"
            "    number += 1\n"
        ),
        "one pass of the loop at line 2",
    ),
    "a scaler and autocast around it": (
        (
            "scaler = torch.amp.GradScaler('cpu')\n"
            "with torch.autocast('cpu', dtype=torch.bfloat16):\n"
            "    for inputs, targets in loader:\n"
            "        optimizer.zero_grad()\n"
            "        loss = criterion(model(inputs), targets)\n"
            "        scaler.scale(loss).backward()\n"
            "        scaler.step(optimizer)\n"
            "        scaler.update()\n"
        ),
        "one pass of the loop at line 3",
    ),
    "an optimizer that calls the forward": (
        (
            "lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=2)\n"
            "for inputs, targets in loader:\n"
            "    def closure():\n"
            "        lbfgs.zero_grad()\n"
            "        loss = criterion(model(inputs), targets)\n"
            "        loss.backward()\n"
            "        return loss\n"
            "    lbfgs.step(closure)\n"
        ),
        "one pass of the loop at line 2",
    ),
    "a closure over the model": (
        (
            "def make():\n"
            "    inner = model\n"
            "    def step(inputs, targets):\n"
            "        optimizer.zero_grad()\n"
            "        criterion(inner(inputs), targets).backward()\n"
            "        optimizer.step()\n"
            "    return step\n"
            "step = make()\n"
            "for inputs, targets in loader:\n"
            "    step(inputs, targets)\n"
        ),
        "one pass of the loop at line 9",
    ),
    "hidden state that is carried on": (
        (
            "rnn, head = nn.GRU(6, 8, batch_first=True), nn.Linear(8, 3)\n"
            "sgd = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)\n"
            "hidden = None\n"
            "for inputs, targets in loader:\n"
            "    hidden = None if hidden is None else hidden.detach()\n"
            "    out, hidden = rnn(inputs[:, None], hidden)\n"
            "    sgd.zero_grad()\n"
            "    F.cross_entropy(head(out[:, -1]), targets).backward()\n"
            "    sgd.step()\n"
        ),
        "one pass of the loop at line 4",
    ),
}


def are_equal(one, other):
    leaves, others = tree_leaves(one), tree_leaves(other)
    return len(leaves) == len(others) and all(map(_is_equal, leaves, others))


def _is_equal(one, other):
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


@pytest.mark.parametrize("name", CELLS)
def test_the_step_of_a_cell_is_found_and_measured_and_nothing_is_changed(notebook, name, capsys):
    source, place = CELLS[name]
    before = notebook.state()
    found = notebook.measured(source, "none", "fused_optimizer", "amp")
    after = notebook.state()
    assert {key for key in before if not are_equal(before[key], after[key])} == set()
    assert found.place == place
    none, fused, amp = found.modes
    assert isinstance(none, ModeResult), none
    assert (none.agreement, none.output_difference, none.gradient_difference) == ("same", 0.0, 0.0)
    assert none.loss_difference == 0.0
    assert all(map(math.isfinite, none.losses))
    assert len(set(none.losses)) > 1
    assert isinstance(amp, ModeResult), amp
    if "calls the forward" in name:  # its line searches make a large difference of a small one
        assert fused.reason == "torch has no fused kernel for LBFGS"
    else:
        assert amp.agreement in {"same", "same within bf16 rounding"}
        assert fused.agreement == "same"
    # Of outputs that are made in the optimizer's step nothing is seen before it.
    assert (amp.output_difference > 0) is ("autocast" not in name and "calls the forward" not in name)
    assert capsys.readouterr().out == ""


def test_both_ways_get_the_same_batches_and_draw_the_same_random_numbers(notebook):
    source = "while True:\n    inputs, targets = next(iter(loader))\n    inputs = inputs + torch.randn_like(inputs)\n"
    source += "    optimizer.zero_grad()\n    criterion(model(inputs), targets).backward()\n    optimizer.step()\n"
    (found,) = notebook.measured(source, "none").modes
    assert (found.output_difference, found.loss_difference) == (0.0, 0.0)
    assert len(set(found.losses)) == len(found.losses)


def test_a_batch_that_the_step_writes_into_is_fresh_in_each_pass(notebook):
    notebook.run("fixed = [(torch.ones(8, 6), y)]\nplain = nn.Linear(6, 3)")
    source = "sgd = torch.optim.SGD(plain.parameters(), lr=0.0)\nfor inputs, targets in fixed:\n    inputs.mul_(2)\n"
    source += "    sgd.zero_grad()\n    F.cross_entropy(plain(inputs), targets).backward()\n    sgd.step()\n"
    (found,) = notebook.measured(source, "none").modes
    assert len(set(found.losses)) == 1
    assert torch.equal(notebook.names["fixed"][0][0], torch.ones(8, 6))


@pytest.mark.parametrize("resets_at_end", [False, True])
def test_the_curve_is_that_of_the_loop_itself(notebook, resets_at_end):
    source = LOOP.replace("range(2)", "range(8)").replace("in loader", "in batches").replace("    model.train()\n", "")
    if resets_at_end:
        reset = "        optimizer.zero_grad()\n"
        source = source.replace(reset, "").replace("        losses.append", f"{reset}        losses.append")
    notebook.run("batches = list(loader)\nmodel.eval()\nfor each in model.modules(): each.p = 0.0")
    (found,) = notebook.measured(source, "none").modes
    notebook.run(source)
    assert found.losses == pytest.approx(notebook.names["losses"][: len(found.losses)], rel=1e-6)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("z = 1\n", "no optimizer stepped in the cell; write a training step, such as: for x, y in loader"),
        ("print(model(x).sum())\n", "no optimizer stepped in the cell"),
        ("def step(image, label):\n    optimizer.step()\nloader = dataset = None\n", "step() wants image, label"),
        ("for _ in ():\n    optimizer.step()\n", "no optimizer stepped"),
        ("for _ in range(3):\n    elsewhere()\n", "the cell reaches a Net of yours by a way on which"),
        ("for _ in range(3):\n    blindly()\n", "the cell reaches a SGD of yours by a way on which"),
        ("for _ in range(3):\n    blind.step()\n", "the step calls no model"),
        ("for inputs, targets in old:\n    optimizer.step()\n", "the cell takes items from a _SingleProcess"),
    ],
)
def test_a_cell_without_a_step_that_can_be_measured_gets_one_line(notebook, source, told):
    notebook.run("blind = torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1)\nold = iter(loader)")
    other = {"model": notebook.names["model"], "optimizer": notebook.names["optimizer"], "x": notebook.names["x"]}
    exec("def elsewhere():\n    model(x).sum().backward()\n    optimizer.step()", other)  # noqa: S102 - a file
    exec("def blindly():\n    blind.step()", other | {"blind": notebook.names["blind"]}, other)  # noqa: S102 - the same
    notebook.names["blindly"] = other["blindly"]
    notebook.names["elsewhere"] = other["elsewhere"]
    before = notebook.state()
    with pytest.raises(NoStepError) as caught:
        notebook.bench(source)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)
    after = notebook.state()
    assert {key for key in before if not are_equal(before[key], after[key])} == set()


def test_what_the_cell_raises_before_its_first_step_is_raised(notebook):
    before = notebook.state()
    with pytest.raises(ZeroDivisionError):
        notebook.bench("new = 1\nmodel = None\nfor inputs, targets in loader:\n    1 / 0\n")
    after = notebook.state()
    assert {key for key in before if not are_equal(before[key], after[key])} == set()


def test_a_loop_that_ends_too_early_is_a_row_that_says_so(notebook):
    source = "number = 0\nwhile number < 5:\n    model(x).sum().backward()\n    optimizer.step()\n    number += 1\n"
    (found,) = notebook.measured(source, "none").modes
    assert found.reason == "ValueError: the loop ended after 5 passes; it has to go on to be measured"


def test_the_step_that_was_interrupted_leaves_no_gradient_and_no_state_of_a_scaler(notebook):
    source = CELLS["a scaler and autocast around it"][0]
    start = notebook.bench(source)._start
    assert start.optimizer is not notebook.names["optimizer"]
    assert {each.grad for group in start.optimizer.param_groups for each in group["params"]} == {None}
    assert not start.world.names["scaler"]._per_optimizer_states


def test_a_loop_of_a_library_is_named(notebook, tmp_path, monkeypatch):
    file = tmp_path / "fitting.py"
    file.write_text("def fit(step):\n    for _ in range(3):\n        step()\n")
    monkeypatch.setattr(sites, "_LIBRARIES", (str(tmp_path),))
    sites.kind_of.cache_clear()
    names = {"__name__": "fitting"}
    exec(compile(file.read_text(), str(file), "exec"), names)  # noqa: S102 - a library
    notebook.names["fit"] = names["fit"]
    with pytest.raises(NoStepError, match=r"that of a library, fitting\.fit\(\); write the loop in the cell"):
        notebook.bench("def step():\n    model(x).sum().backward()\n    optimizer.step()\nfit(step)\n")
    sites.kind_of.cache_clear()


def test_two_models_that_train_against_each_other_are_measured(notebook):
    source = """
maker, judge = nn.Linear(4, 6), nn.Linear(6, 1)
making, judging = (torch.optim.Adam(each.parameters(), lr=0.01) for each in (maker, judge))
for real, _ in loader:
    fake = maker(torch.randn(len(real), 4))
    judging.zero_grad()
    (judge(fake.detach()).mean() - judge(real).mean()).backward()
    judging.step()
    making.zero_grad()
    (-judge(fake)).mean().backward()
    making.step()
"""
    none, amp = notebook.measured(source, "none", "amp").modes
    assert (none.agreement, none.gradient_difference, none.loss_difference) == ("same", 0.0, 0.0)
    assert [line.split()[0] for line in amp.code.splitlines()[2:]] == ["maker", "judge"]
    assert amp.agreement == "same within bf16 rounding"


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("gradient_accumulation", "how many batches a step takes is said by the loop itself"),
        ("inference", "it trains nothing"),
        ("channels_last", "the model has no convolution over images"),
    ],
)
def test_a_mode_that_does_not_apply_is_a_row(notebook, mode, reason):
    (found,) = notebook.measured(LOOP, mode).modes
    assert found.reason.startswith(reason)


def test_a_mode_that_fails_in_the_loop_is_a_row_and_leaves_nothing(notebook):
    notebook.run(
        "class Broken(Net):\n    def forward(self, x):\n        out = super().forward(x)\n"
        "        if torch.is_autocast_enabled('cpu'): raise KeyError('not in bfloat16')\n        return out\n"
        "model = Broken()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    )
    before = notebook.state()
    plain, amp = notebook.measured(LOOP, "none", "amp").modes
    assert isinstance(plain, ModeResult)
    assert amp.reason == "KeyError: 'not in bfloat16'"
    after = notebook.state()
    assert {key for key in before if not are_equal(before[key], after[key])} == set()


def test_a_model_that_is_optimised_already_is_one_model(notebook):
    notebook.run("import torchmagic\nmodel = torchmagic.optimize_model(model, 'memory_efficient')")
    before = notebook.state()
    assert len(notebook.bench(LOOP)._start.models) == 1
    none, fused = notebook.measured(LOOP, "none", "fused_optimizer").modes
    assert (none.agreement, none.loss_difference, fused.agreement) == ("same", 0.0, "same")
    after = notebook.state()
    assert {key for key in before if not are_equal(before[key], after[key])} == set()


def test_several_models_are_measured_together(notebook):
    source = (
        "first, second = nn.Linear(6, 8), nn.Linear(8, 3)\n"
        "sgd = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)\n"
        "for inputs, targets in loader:\n"
        "    sgd.zero_grad()\n"
        "    F.cross_entropy(second(first(inputs).relu()), targets).backward()\n"
        "    sgd.step()\n"
    )
    bench = notebook.bench(source)
    assert [each.in_features for each in bench._start.models] == [6, 8]
    found = notebook.measured(source, "fused_optimizer", "amp").modes
    assert [each.agreement for each in found] == ["same", "same within bf16 rounding"]
    assert found[1].code.splitlines()[2:] == [
        'first = torchmagic.optimize_model(first, "amp")',
        'second = torchmagic.optimize_model(second, "amp")',
    ]
