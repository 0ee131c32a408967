"""This file tests which steps are said to use gradients that were used before."""

from torchmagic.records.connection import ReusedGradientsRecord

CELL = """
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
other = torch.optim.SGD(net[1].parameters(), lr=0.01)
def backward():
    net.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
for step in range({steps}):
    {loop}
"""


def reused(run_cell, *lines, steps=4):
    run, _ = run_cell(CELL.format(loop="\n    ".join(lines), steps=steps))
    return run.of(ReusedGradientsRecord)


def test_one_step_after_each_backward_leaves_no_record(run_cell):
    assert reused(run_cell, "backward()", "opt.step()", steps=40) == []


def test_a_second_step_on_the_same_gradients_is_recorded_with_both_lines(run_cell):
    records = reused(run_cell, "backward()", "opt.step()", "opt.step(None)")
    assert [record.num_pairs for record in records] == [1, 2, 3, 4]
    assert (records[0].optimizer, records[0].same) == ("opt", True)
    assert (records[0].earlier_place.source, records[0].place.source) == ("opt.step()", "opt.step(None)")


def test_gradients_that_are_changed_or_cleared_in_between_are_new_ones(run_cell):
    assert (
        reused(run_cell, "backward()", "opt.step()", "net[0].weight.grad.mul_(0.5)", "opt.zero_grad()", "opt.step()")
        == []
    )
    scale = "[p.grad.mul_(0.5) for p in net.parameters()]"
    assert reused(run_cell, "backward()", "opt.step()", scale, "opt.step()") == []


def test_gradients_of_zero_are_silent(run_cell):
    assert reused(run_cell, "backward()", "net.zero_grad(set_to_none=False)", "opt.step()", "opt.step()") == []


def test_a_closure_makes_its_own_gradients(run_cell):
    assert reused(run_cell, "opt.step(backward)", "opt.step(backward)") == []


def test_two_optimizers_on_one_gradient_are_recorded_as_two(run_cell):
    records = reused(run_cell, "backward()", "opt.step()", "other.step()")
    assert {(record.optimizer, record.earlier, record.same, record.num_shared) for record in records} == {
        ("other", "opt", False, 2)
    }
    assert "net.1.weight" in records[0].parameters


def test_two_optimizers_with_a_backward_each_are_silent(run_cell):
    assert reused(run_cell, "backward()", "opt.step()", "backward()", "other.step()") == []


def test_what_begins_late_in_a_run_is_found_at_a_later_look(run_cell):
    records = reused(run_cell, "backward()", "opt.step()", "opt.step() if step > 50 else None", steps=80)
    assert records
    assert records[0].step >= 64


def test_gradients_from_before_the_run_are_recorded_as_such(run_cell):
    before = "net = nn.Linear(3, 1)\nnet(torch.randn(8, 3)).sum().backward()\nopt = torch.optim.SGD(net.parameters())"
    _, names = run_cell(before)
    run, _ = run_cell("for step in range(4):\n    opt.step()", names=names)
    records = run.of(ReusedGradientsRecord)
    assert [(record.num_pairs, record.made_before) for record in records] == [(1, True), (2, True), (3, True)]
