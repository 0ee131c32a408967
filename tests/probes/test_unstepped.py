"""This file tests whether optimizers that never step are seen, by whatever use is made of them."""

import pytest

from torchmagic.probes import gradient_readers
from torchmagic.records.loop import UnsteppedRecord

SETUP = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x, y = torch.randn(16, 3), torch.randn(16, 1)
"""


def test_a_loop_without_a_step_is_told_with_its_lines(run_cell):
    run, _ = run_cell(
        SETUP
        + """
opt = torch.optim.Adam(net.parameters())
scheduler = torch.optim.lr_scheduler.ConstantLR(opt)
for step in range(5):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
import warnings; warnings.simplefilter("ignore")
scheduler.step()
"""
    )
    (record,) = run.of(UnsteppedRecord)
    assert (record.optimizer, record.class_name, record.iterations) == ("opt", "Adam", 5)
    assert (record.resets, record.scheduled, record.built, record.changed) == (5, 1, True, False)
    assert record.backward.source == "F.mse_loss(net(x), y).backward()"
    assert record.schedule.source == "scheduler.step()"


@pytest.mark.parametrize(
    "update",
    ["for p in net.parameters(): p.data -= 0.1 * p.grad", "other.step()"],
)
def test_an_update_by_somebody_else_is_seen(run_cell, update):
    run, _ = run_cell(
        SETUP
        + f"""
opt, other = torch.optim.Adam(net.parameters()), torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    {update}
"""
    )
    assert all(record.changed for record in run.of(UnsteppedRecord))
    assert "opt" in [record.optimizer for record in run.of(UnsteppedRecord)]


def test_one_that_steps_in_the_end_and_one_without_gradients_are_no_news(run_cell):
    run, _ = run_cell(
        SETUP
        + """
opt, idle = torch.optim.Adam(net.parameters()), torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
for step in range(5):
    opt.zero_grad()
    idle.zero_grad()
    F.mse_loss(net(x), y).backward()
opt.step()
"""
    )
    assert run.of(UnsteppedRecord) == []


@pytest.mark.parametrize(("ending", "told", "files"), [("opt.step()", 0, 0), ("p = net[0].weight.grad.norm()", 1, 1)])
def test_the_code_around_a_backward_is_read_only_where_something_is_to_be_told(
    run_cell, monkeypatch, ending, told, files
):
    read, reads = [], gradient_readers.reads_gradients
    monkeypatch.setattr(gradient_readers, "reads_gradients", lambda source: read.append(source) or reads(source))
    run, _ = run_cell(
        SETUP
        + f"""
opt = torch.optim.Adam(net.parameters())
for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    {ending}
"""
    )
    assert [each.inspected for each in run.of(UnsteppedRecord)] == [True] * told
    assert len(read) == files


def test_the_module_that_it_owns_is_named(run_cell):
    run, _ = run_cell("""
    net = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)))
    first = torch.optim.SGD(net[0].parameters(), lr=0.1)
    second = torch.optim.SGD(net[1].parameters(), lr=0.1)
    for _ in range(5):
        first.zero_grad()
        second.zero_grad()
        net(torch.randn(8, 4)).mean().backward()
        first.step()
    """)
    assert [record.module for record in run.of(UnsteppedRecord)] == ["net.1"]


def test_the_backward_of_its_own_loss_is_told_where_another_one_reaches_it_too(run_cell):
    run, _ = run_cell("""
    maker, critic = nn.Linear(2, 4), nn.Linear(4, 1)
    made_by, judged_by = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (maker, critic))
    for _ in range(5):
        made_by.zero_grad()
        judged_by.zero_grad()
        made = maker(torch.randn(8, 2))
        critic(made).mean().backward()
        made_by.step()
        judged_by.zero_grad()
        lost = (critic(torch.randn(8, 4)) - critic(made.detach())).mean()
        lost.backward()
    """)
    (record,) = run.of(UnsteppedRecord)
    assert record.backward.source == "lost.backward()"
    assert (record.iterations, record.alone) == (10, 5)


@pytest.mark.parametrize(("branch", "line"), [("if step > 9: ", 7), ("", None)])
def test_a_step_in_a_branch_that_was_never_taken_is_known(run_cell, branch, line):
    stepped = f"{branch}opt.step()" if branch else "print(step)"
    run, _ = run_cell(
        SETUP
        + f"""opt = torch.optim.Adam(net.parameters())
for step in range(5):
    F.mse_loss(net(x), y).backward()
    {stepped}
"""
    )
    (record,) = run.of(UnsteppedRecord)
    assert (record.waiting.line if record.waiting else None) == line
