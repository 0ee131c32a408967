"""This file tests what a run knows of its best evaluation."""

import pytest

from torchmagic.analyses.early_stopping import early_stopping
from torchmagic.records.evaluation import StoppingRecord

ONLY = {"only": ("early-stopping",)}
LOOP = """
import copy
net = nn.Linear(1, 1, bias=False)
opt = torch.optim.SGD(net.parameters(), lr=1.0)
x = torch.ones(4, 1)
best, kept = float("inf"), None
for weight in weights:
    net(x).sum().backward()
    net.weight.grad = net.weight.detach() - weight
    opt.step()
    with torch.no_grad():
        loss = F.mse_loss(net(x), torch.zeros(4, 1))
    if loss < best:
        best, kept = loss, copy.deepcopy(net.state_dict())
"""
RISES = {"weights": [3.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0]}


def found(run):
    (record,) = run.of(StoppingRecord)
    return record


def test_a_run_that_went_past_its_best_does_not_hold_it(run_cell):
    run, _ = run_cell(LOOP, names=RISES, **ONLY)
    record = found(run)
    assert (record.subject, record.num_passes, record.best, record.best_step) == ("mse_loss(net)", 7, 1.0, 3)
    assert (record.since_best, record.steps_since_best, record.holds_best) == (4, 4, False)


def test_a_run_that_puts_its_best_back_holds_it(run_cell):
    run, _ = run_cell(LOOP + "net.load_state_dict(kept)", names=RISES, **ONLY)
    assert found(run).holds_best is True


def test_a_run_that_ends_at_its_best_holds_it(run_cell):
    run, _ = run_cell(LOOP, names={"weights": [3.0, 2.0, 1.0]}, **ONLY)
    assert (found(run).since_best, found(run).holds_best) == (0, True)


def test_each_evaluation_tells_the_best_so_far_and_how_long_ago_it_was(run_cell):
    run, _ = run_cell(LOOP, names=RISES, **ONLY)
    assert run.series("eval_best", name="mse_loss(net)")[1] == [9.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert run.series("eval_since_best", name="mse_loss(net)")[1] == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_run_without_evaluation_has_nothing_to_stop(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(1, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(3):\n    F.mse_loss(net(torch.ones(2, 1)), torch.ones(2, 1)).backward()\n    opt.step()",
        **ONLY,
    )
    assert not run.of(StoppingRecord)
    assert early_stopping(run) == ()


def test_an_evaluation_that_is_never_finite_is_no_best(run_cell):
    run, _ = run_cell(LOOP, names={"weights": [float("nan")] * 3}, **ONLY)
    assert not run.of(StoppingRecord)


def test_the_analysis_reads_what_the_probe_wrote(run_cell):
    run, _ = run_cell(LOOP, names=RISES, only=("validation", "backward"))
    (curve,) = early_stopping(run)
    assert (curve.best, curve.best_pass, curve.since_best, curve.rise) == (1.0, 2, 4, pytest.approx(24.0))
    assert curve.would_stop == {3: 6}
