"""This file tests the rule on learning rates of zero, on rates written by hand."""

import pytest

from torchmagic.records.model import ParameterRecord
from torchmagic.records.place import Place
from torchmagic.rules.learning_rate.lr_zero import MIN_SHARE, MIN_STEPS, lr_zero


def found(history, rates, **changes):
    return list(lr_zero(history.group(**changes).rates(rates).run))


def test_a_rate_that_becomes_zero_after_a_tenth_of_the_run_is_told_at_the_schedule(history):
    history.schedule(class_name="LambdaLR")
    (finding,) = found(history, [0.1] * 6 + [0.0] * 54)
    assert (finding.severity, finding.line, finding.step) == ("error", 3, 6)
    assert finding.evidence["share of steps at 0"] == 0.9


def test_a_rate_given_as_zero_is_told_at_the_optimizer(history):
    (finding,) = found(history, [0.0] * 20)
    assert (finding.line, finding.optimizer) == (2, "opt")


def test_a_rate_set_by_hand_is_told_at_the_line_that_sets_it(history):
    history.run.source = "for epoch in range(9):\n    group['lr'] = 0.1 * (epoch < 3)\n"
    (finding,) = found(history, [0.1] * 6 + [0.0] * 14)
    assert (finding.line, finding.source) == (2, "group['lr'] = 0.1 * (epoch < 3)")


def test_just_below_the_share_and_the_number_of_steps_is_silent(history):
    assert (MIN_SHARE, MIN_STEPS) == (0.3, 10)
    assert found(history, [0.1] * 71 + [0.0] * 29) == []


def test_nine_steps_are_too_few(history):
    assert found(history, [0.0] * 9) == []


@pytest.mark.parametrize(("lead", "count"), [(1, 0), (29, 0), (31, 1)])
def test_a_warm_up_that_stays_at_zero_is_told_where_nothing_else_moves(history, lead, count):
    assert len(found(history, [0.0] * lead + [0.1] * (100 - lead))) == count


def test_a_group_that_begins_later_than_others_is_silent(history):
    history.group(subject="opt[1]").rates([0.1] * 100, "opt[1]")
    assert found(history, [0.0] * 40 + [0.1] * 60) == []


@pytest.mark.parametrize(("end", "count"), [(10, 0), (31, 1)])
def test_the_end_of_a_decay_may_be_zero(history, end, count):
    assert len(found(history, [0.1] * (100 - end) + [0.0] * end)) == count


def test_an_optimizer_without_a_rate_is_silent(history):
    assert found(history, [0.0] * 20, lr=None) == []


def test_a_rate_that_is_only_very_small_is_silent(history):
    assert found(history, [1e-11] * 20) == []


def test_the_end_of_a_decay_is_not_added_to_zeros_before_it(history):
    assert found(history, [0.1] * 30 + [0.0] * 25 + [0.1] * 35 + [0.0] * 10) == []


def test_a_group_whose_parameters_are_all_frozen_is_silent(history):
    frozen = {"model": "net", "module": "net", "shape": (50,), "dtype": "float32", "device": "cpu"}
    history.run.records += [ParameterRecord(name=name, trainable=False, **frozen) for name in ("a", "b")]
    assert found(history, [0.0] * 20, parameters=("a", "b")) == []
    mixed = type(history)()
    mixed.run.records += history.run.of(ParameterRecord)
    assert len(found(mixed, [0.0] * 20, parameters=("a", "net.weight"))) == 1


def test_a_group_without_known_parameters_is_told(history):
    assert len(found(history, [0.0] * 20, parameters=())) == 1


def test_a_group_whose_facts_came_twice_is_told_once(history):
    history.group(step=0)
    assert len(found(history, [0.0] * 40, step=20)) == 1


def test_a_schedule_that_was_given_a_rate_of_zero_is_not_to_blame(history):
    history.schedule(base_lr=(0.0,))
    (finding,) = found(history, [0.0] * 20)
    assert finding.line == 2
    assert "get_last_lr" not in finding.fix


def test_an_option_of_zero_is_not_told_at_a_line_that_sets_the_rate(history):
    history.run.source = "group['lr'] = 0.0\n"
    (finding,) = found(history, [0.0] * 20)
    assert finding.line == 2


def test_groups_that_stand_still_together_are_told_together(history):
    for subject in ("opt[0]", "opt[1]", "opt[2]"):
        history.group(subject=subject).rates([0.1 * (subject == "opt[0]")] * 20, subject)
    (finding,) = lr_zero(history.run)
    assert finding.title == "the learning rate of opt[1] and opt[2] is 0 for 100% of the steps"


def test_a_whole_division_is_suspected_only_of_a_rate_that_was_never_above_zero(history):
    history.schedule(class_name="LambdaLR")
    (finding,) = found(history, [0.1] * 6 + [0.0] * 54)
    assert "0 from step 6 of 60 on" in finding.fix
    other = type(history)().schedule(class_name="LambdaLR")
    (finding,) = found(other, [0.0] * 60)
    assert "use / and not //" in finding.fix


def test_a_whole_division_in_the_line_of_the_schedule_is_mended_there(history):
    line = "sched = LambdaLR(opt, lambda epoch: 1 // (epoch + 2))"
    history.schedule(class_name="LambdaLR", built=Place(file="<cell>", line=3, source=line))
    (finding,) = found(history, [0.0] * 20)
    assert finding.fix.startswith("sched = LambdaLR(opt, lambda epoch: 1 / (epoch + 2))  #")


def test_a_schedule_that_begins_at_zero_and_is_never_stepped_is_to_be_stepped(history):
    history.schedule(stepped=False, step=None, place=None)
    (finding,) = found(history, [0.0] * 20)
    assert finding.fix.startswith("sched.step()  # after each opt.step()")


def test_a_rate_that_is_set_by_hand_is_no_schedules_that_was_never_stepped(history):
    history.schedule(stepped=False, step=None, place=None)
    history.run.source = "group['lr'] = 0.1 * max(0, 1 - epoch // 2)\n"
    (finding,) = found(history, [0.1] * 6 + [0.0] * 54)
    assert (finding.line, finding.source) == (1, "group['lr'] = 0.1 * max(0, 1 - epoch // 2)")
    assert finding.fix.startswith('print(opt.param_groups[0]["lr"])  # 0 from step 6 of 60 on')


def test_a_rate_to_begin_with_is_that_of_another_group_or_usual_for_the_kind(history):
    history.group(subject="opt[0]").group(subject="opt[1]", lr=0.0)
    history.rates([0.1] * 20, "opt[0]").rates([0.0] * 20, "opt[1]")
    (finding,) = lr_zero(history.run)
    assert finding.fix == 'opt.param_groups[1]["lr"] = 0.1'


def test_the_rate_that_a_next_step_would_have_is_no_step(history):
    history.group().rates([0.1] * 10 + [0.0] * 10 + [0.1]).run.steps = 20
    (finding,) = lr_zero(history.run)
    assert (finding.evidence["steps"], finding.evidence["share of steps at 0"]) == (20, 0.5)
