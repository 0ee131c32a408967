"""This file tests the courses that rules read: of the rate, the updates and the loss of a run."""

import math

import pytest

from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.analyses.objective import single_objective
from torchmagic.analyses.rates import rates, searches_rate, vanished_rate
from torchmagic.analyses.relative_updates import group_updates
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run


def group(**changes):
    facts = {
        "optimizer": "opt", "class_name": "SGD", "subject": "opt", "parameters": ("a", "b"), "num_elements": 2,
        "lr": 0.1, "weight_decay": 0.0, "decoupled": False, "maximize": False, "step": 0, "built": None,
    }  # fmt: skip
    return GroupRecord(**facts | changes)


def schedule(**changes):
    facts = {
        "name": "sched", "class_name": "StepLR", "optimizer": "opt", "settings": {}, "base_lr": (0.1,), "parts": (),
        "step": 1, "stepped": True, "before_optimizer": False, "metric": False, "scaled": False, "built": None,
        "place": None,
    }  # fmt: skip
    return ScheduleRecord(**facts | changes)


def run_of(*records, **series):
    run = Run()
    run.records += records
    for metric, rows in series.items():
        subject = ("opt",) if metric == "lr" else ("loss",) if metric == "loss" else ("a", "b")
        for step, row in enumerate(rows):
            run.frame(metric, subject).append(step, row if isinstance(row, tuple) else (row,))
        run.steps = max(run.steps, len(rows))
    return run


def test_a_rate_has_the_schedules_of_its_own_optimizer_and_its_own_stretch():
    later, other = schedule(name="later", step=12), schedule(name="other", optimizer="b")
    first, second = rates(run_of(group(), group(step=10), schedule(), later, other, lr=[0.1] * 20))
    assert [[each.name for each in rate.schedules] for rate in (first, second)] == [["sched"], ["later"]]
    assert (len(first.values), len(second.values)) == (10, 10)


def test_a_schedule_that_was_never_stepped_belongs_to_each_stretch():
    assert len(rates(run_of(group(), schedule(step=None), lr=[0.1] * 4))[0].schedules) == 1


def test_a_rate_of_one_value_searches_nothing():
    assert not searches_rate(run_of(group(), lr=[0.1]))
    assert not searches_rate(run_of(group(), lr=[0.1] * 9))
    assert searches_rate(run_of(group(), lr=[1e-6 * 3.0**step for step in range(20)]))


def test_a_rate_has_vanished_when_its_whole_second_half_is_near_nothing():
    assert vanished_rate(run_of(group(), lr=[0.1] * 5 + [1e-6] * 5))
    assert not vanished_rate(run_of(group(), lr=[0.1] * 6 + [1e-6] * 4))
    assert not vanished_rate(run_of(group(), lr=[0.1] * 5 + [0.01] * 5))
    assert not vanished_rate(run_of(group(), lr=[0.0] * 10))


def test_the_update_of_a_group_is_that_of_all_its_parameters():
    (found,) = group_updates(run_of(group(), update_ratio=[(0.5, 0.25)], weight_norm=[(3.0, 4.0)]))
    assert found.ratios[0] == pytest.approx(math.hypot(1.5, 1.0) / 5.0)
    assert found.lengths[0] == pytest.approx(5.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_parameters_whose_update_or_length_is_none_are_left_out(bad):
    for ratios, norms in (((0.5, bad), (3.0, 4.0)), ((0.5, 0.25), (3.0, bad))):
        (found,) = group_updates(run_of(group(), update_ratio=[ratios], weight_norm=[norms]))
        assert (found.ratios[0], found.lengths[0]) == (0.5, 3.0)


def test_a_parameter_that_was_measured_once_only_is_left_out():
    (found,) = group_updates(run_of(group(parameters=("a", "c")), update_ratio=[(0.5, 0.2)], weight_norm=[(3.0, 4.0)]))
    assert found.ratios[0] == 0.5
    assert group_updates(run_of(group(), update_ratio=[(0.5, 0.2)])) == []
    assert group_updates(run_of(group(), weight_norm=[(0.5, 0.2)])) == []


def test_each_group_has_the_steps_of_its_own_optimizer_and_the_weights_as_measured_before_them():
    run = Run()
    run.records += [group(), group(subject="other", parameters=("c",), num_elements=1)]
    for step, row in ((0, (3.0, 4.0)), (4, (6.0, 8.0)), (4, (9.0, 12.0))):  # the later of two in one step
        run.frame("weight_norm", ("a", "b")).append(step, row)
    run.frame("weight_norm", ("c",)).append(1, (2.0,))
    for step in (0, 3, 5):
        run.frame("update_ratio", ("a", "b")).append(step, (1.0, 0.0))
    for step in (1, 3):
        run.frame("update_ratio", ("c",)).append(step, (0.5,))
    run.frame("weight_norm_at_end", ("a", "b")).append(6, (6.0, 8.0))
    first, second = group_updates(run)
    # At step 3 the row before it is that of the other optimizer: nothing is known of these weights.
    assert (first.steps.tolist(), second.steps.tolist()) == ([0, 5], [1, 3])
    assert first.lengths.tolist() == [5.0, 15.0]
    assert first.ratios.tolist() == pytest.approx([3 / 5, 9 / 15])
    assert second.ratios.tolist() == [0.5, 0.5]
    assert first.last == 10.0
    assert math.isnan(second.last)


def test_the_curve_of_a_loss_ends_where_it_breaks():
    curve = loss_curve(run_of(loss=[4.0, 2.0, 3.0, math.nan, 1.0]), "loss")
    assert (list(curve.values), curve.broken, curve.width) == ([4.0, 2.0, 3.0], True, 3)
    assert (curve.start, curve.end) == (3.0, 3.0)
    assert loss_curve(run_of(loss=[4.0, math.inf]), "loss") is None
    assert not loss_curve(run_of(loss=[4.0, 2.0]), "loss").broken


def test_a_calm_curve_has_no_error_and_a_swinging_one_has():
    assert loss_curve(run_of(loss=[2.0] * 40), "loss").error_of_mean == 0.0
    assert loss_curve(run_of(loss=[2.0, 3.0]), "loss").error_of_mean == 0.0
    assert loss_curve(run_of(loss=[2.0, 3.0, 2.0]), "loss").error_of_mean == pytest.approx(1 / math.sqrt(6))
    assert loss_curve(run_of(loss=[2.0, 3.0] * 50), "loss").error_of_mean == pytest.approx(1 / math.sqrt(14), rel=0.01)


def test_two_optimizers_of_which_one_follows_the_other_are_one_objective():
    facts = {
        "loss": "loss", "place": None, "step": 0, "criteria": ("cross_entropy",), "mixed": False, "sign": 1,
        "scale": 1.0, "weighted": False, "log_prob": False, "num_classes": 3, "altered": False,
    }  # fmt: skip
    records = ObjectiveRecord(**facts), BackwardRecord(name="loss", place=None)
    phases = run_of(*records, group(), group(optimizer="b", subject="b", step=10), lr=[0.1] * 10, loss=[1.0] * 20)
    for step in range(10, 20):
        phases.frame("lr", ("b",)).append(step, (0.1,))
    assert single_objective(phases) is not None
    for step in range(20, 30):
        phases.frame("lr", ("opt",)).append(step, (0.1,))
        phases.frame("loss", ("loss",)).append(step, (1.0,))
    assert single_objective(phases) is None
    again = run_of(*records, group(), group(step=10), lr=[0.1] * 20, loss=[1.0] * 20)
    assert single_objective(again) is not None
