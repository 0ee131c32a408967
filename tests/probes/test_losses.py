"""This file tests that losses are recorded as the loop saw them, by the names the user gave them."""

import math

import pytest
import torch

from torchmagic.records.loss import BackwardRecord

SETUP = """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x, y, seen = torch.randn(16, 3), torch.randn(16, 1), []
"""


def test_the_values_are_bit_for_bit_those_of_the_loop(run_cell):
    run, names = run_cell(
        SETUP + "for step in range(6):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n"
        "    opt.step()\n    seen.append(loss.item())\n"
    )
    assert run.series("loss", name="loss") == (list(range(6)), names["seen"])


def test_two_losses_keep_their_names(run_cell):
    run, names = run_cell(
        SETUP + "for step in range(4):\n    opt.zero_grad()\n    d_loss = net(x).pow(2).mean()\n    d_loss.backward()\n"
        "    g_loss = F.l1_loss(net(x), y)\n    g_loss.backward()\n    opt.step()\n"
        "    seen.append((d_loss.item(), g_loss.item()))\n"
    )
    assert run.subjects("loss") == ("d_loss", "g_loss")
    assert run.series("loss", name="d_loss")[1] == [pair[0] for pair in names["seen"]]
    assert run.series("loss", name="g_loss")[1] == [pair[1] for pair in names["seen"]]
    assert [record.place.source for record in run.of(BackwardRecord)] == ["d_loss.backward()", "g_loss.backward()"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("loss.backward()", "loss"),
        ("total = loss; total.backward()", "total"),
        ("(loss / 4).backward()", "loss"),
        ("F.mse_loss(net(x), y).backward()", "loss"),
        ("net(x).mean().backward()", "loss"),
        ("torch.autograd.backward(loss)", "loss"),
        ("loss.backward(retain_graph=True)", "loss"),
    ],
)
def test_the_name_is_what_the_line_calls_it(run_cell, line, name):
    run, _ = run_cell(SETUP + f"loss = F.mse_loss(net(x), y)\n{line}\nopt.step()\n")
    assert run.subjects("loss") == (name,)


def test_accumulated_losses_are_all_kept_at_their_step(run_cell):
    run, _ = run_cell(
        SETUP + "for i in range(6):\n    loss = F.mse_loss(net(x), y) / 3\n    loss.backward()\n"
        "    if i % 3 == 2:\n        opt.step()\n        opt.zero_grad()\n"
    )
    assert run.series("loss", name="loss")[0] == [0, 0, 0, 1, 1, 1]


def test_a_scaled_loss_is_known_by_its_own_value(run_cell):
    run, names = run_cell(
        SETUP + "scaler = torch.amp.GradScaler('cpu', init_scale=1024.0)\n"
        "for step in range(3):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n"
        "    scaler.scale(loss).backward()\n    scaler.step(opt)\n    scaler.update()\n    seen.append(loss.item())\n"
    )
    assert run.series("loss")[1] == names["seen"]


def test_a_loss_that_is_not_finite_is_recorded_as_it_is(run_cell):
    run, _ = run_cell(
        SETUP
        + "for factor in (1.0, float('inf'), float('nan')):\n    loss = net(x).sum() * factor\n    loss.backward()\n",
        anomaly="off",
    )
    values = run.series("loss", name="loss")[1]
    assert math.isfinite(values[0])
    assert not math.isfinite(values[1])
    assert math.isnan(values[2])


def test_a_loss_with_more_than_one_element_is_left_to_the_user(run_cell):
    run, _ = run_cell(SETUP + "net(x).backward(torch.ones(16, 1))\nopt.step()\n")
    assert run.series("loss") == ([], [])


def test_a_loss_inside_a_closure_is_recorded_at_each_call(run_cell):
    run, names = run_cell(
        SETUP + "opt = torch.optim.LBFGS(net.parameters(), max_iter=4)\n"
        "def closure():\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n"
        "    seen.append(loss.item())\n    return loss\n"
        "opt.step(closure)\n"
    )
    assert run.series("loss", name="loss")[1] == names["seen"]


def test_losses_can_be_left_out(run_cell):
    run, _ = run_cell(SETUP + "F.mse_loss(net(x), y).backward()\nopt.step()\n", without="backward")
    assert run.subjects("loss") == ()


GATHER = """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
seen, counts = [], []
for step in range(3):
    total = torch.tensor(48.0)
    for part in range(PARTS):
        x, y = torch.randn(16, 3), torch.randn(16, 1)
        {loss}
        seen.append(loss.item())
        {backward}
    opt.step()
    opt.zero_grad()
"""


@pytest.mark.parametrize(
    "backward",
    ["(loss / 4).backward()", "(loss / 4.0).backward()", "loss = loss / 4; loss = loss / 1; loss.backward()"],
)
def test_a_loss_that_is_divided_for_several_batches_is_recorded_whole(run_cell, backward):
    cell = GATHER.format(loss="loss = F.mse_loss(net(x), y)", backward=backward).replace("PARTS", "4")
    run, names = run_cell(cell)
    assert run.series("loss", name="loss") == ([step for step in range(3) for _ in range(4)], names["seen"])


def test_a_last_step_of_fewer_batches_is_divided_by_the_usual_number(run_cell):
    cell = GATHER.format(loss="loss = F.mse_loss(net(x), y)", backward="(loss / 4).backward()")
    run, names = run_cell(cell.replace("PARTS", "4 if step < 2 else 1"))
    assert run.series("loss")[1] == names["seen"]


def test_sums_divided_by_the_number_of_a_whole_step_are_added_up(run_cell):
    cell = GATHER.format(
        loss="loss = F.mse_loss(net(x), y, reduction='sum') / total * 1", backward="loss.backward()"
    ).replace("PARTS", "3")
    run, names = run_cell(cell)
    steps, values = run.series("loss")
    assert steps == [0, 1, 2]
    assert values == pytest.approx([sum(names["seen"][3 * step : 3 * step + 3]) for step in range(3)])


@pytest.mark.parametrize(
    ("loss", "parts"),
    [
        ("loss = F.mse_loss(net(x), y, reduction='sum') / 16", "1"),
        ("loss = F.mse_loss(net(x), y, reduction='sum') / (y > 0).sum()", "3"),
        ("loss = F.mse_loss(net(x), y) / 0.5", "3"),
        ("loss = F.mse_loss(net(x), y) / 2.5", "3"),
        ("loss = F.mse_loss(net(x), y) * 4", "3"),
    ],
)
def test_a_loss_that_is_divided_for_its_own_sake_is_left_as_it_is(run_cell, loss, parts):
    run, names = run_cell(GATHER.format(loss=loss, backward="loss.backward()").replace("PARTS", parts))
    assert run.series("loss")[1] == names["seen"]


def test_what_is_divided_before_the_first_step_is_not_lost(run_cell):
    run, names = run_cell(
        SETUP + "for i in range(3):\n    loss = F.mse_loss(net(x), y) / 4\n    loss.backward()\n"
        "    seen.append(4 * loss.item())\n"
    )
    assert run.series("loss")[1] == names["seen"]


@pytest.mark.parametrize("line", ["accelerator.backward(d_loss)", "engine.backward(d_loss, retain_graph=True)"])
def test_a_loss_given_to_a_trainer_keeps_its_name(run_cell, line):
    library = "def backward(self, loss, **kwargs):\n    (loss / 1).backward(**kwargs)\n"
    names = {}
    exec(compile(library, torch.__file__, "exec"), names)  # noqa: S102 - as if it were a library's
    trainer = type("Trainer", (), {"backward": names["backward"]})()
    run, _ = run_cell(
        SETUP + "d_loss = F.mse_loss(net(x), y)\n" + line, names=dict.fromkeys(("accelerator", "engine"), trainer)
    )
    assert run.subjects("loss") == ("d_loss",)
