"""This file tests the rule on losses that are made to rise, on courses written by hand."""

import math
from dataclasses import replace

import pytest

from torchmagic.records.loss import BackwardRecord, LossRecord
from torchmagic.records.reach import ReachRecord
from torchmagic.rules.parameters.ascending_loss import NEGATION, ascending_loss

RISES = [1.0 + 0.05 * step for step in range(30)]
FALLS = [2.0 - 0.05 * step for step in range(30)]


def found(history, losses, *, objective=None, **group):
    history.losses(losses, **objective or {}).group(**group)
    return list(ascending_loss(history.run))


def test_an_optimizer_that_maximises_is_told_where_it_was_built(history):
    (finding,) = found(history, RISES, maximize=True)
    assert (finding.severity, finding.line) == ("error", 2)


def test_a_minus_sign_is_told_at_its_line(history):
    history.losses([-value for value in RISES], sign=-1).group()
    records = history.run.records
    for i, record in enumerate(records):
        if isinstance(record, (BackwardRecord, LossRecord)):
            source = "loss = -F.cross_entropy(out, y)" if isinstance(record, LossRecord) else "loss.backward()"
            records[i] = replace(record, place=replace(record.place, source=source))
    (finding,) = ascending_loss(history.run)
    assert finding.source == "loss = -F.cross_entropy(out, y)"


def test_two_signs_are_none(history):
    assert found(history, [-value for value in FALLS], objective={"sign": -1}, maximize=True) == []


def test_a_loss_that_rises_by_itself_is_silent(history):
    assert found(history, RISES) == []


def test_a_criterion_that_rises_by_less_than_half_is_silent(history):
    assert found(history, [1.0 + 0.01 * step for step in range(30)], maximize=True) == []


def test_a_criterion_that_rises_and_falls_again_is_silent(history):
    assert found(history, [*RISES, *[0.5] * 20, 2.0], maximize=True) == []


def test_a_criterion_that_rises_until_it_breaks_is_told(history):
    assert len(found(history, [*RISES, math.nan], maximize=True)) == 1


@pytest.mark.parametrize("objective", [{"log_prob": True}, {"weighted": True}, {"criteria": ()}, {"sign": 0}])
def test_what_is_no_plain_criterion_is_silent(history, objective):
    assert found(history, RISES, objective=objective, maximize=True) == []


def test_an_attack_on_inputs_is_silent(history):
    assert found(history, RISES, maximize=True, parameters=("opt[0]",)) == []


def test_the_looks_at_the_criterion_are_used_where_the_loss_has_other_terms(history):
    history.series("criterion", RISES, ("loss",))
    assert len(found(history, [0.0] * 30, objective={"sign": -1, "mixed": True})) == 1


@pytest.mark.parametrize(
    "line",
    [
        "loss = -F.mse_loss(a, b)",
        "(-loss).backward()",
        "return -1 * ce(a, b)",
        "loss = 1 - ce(a)",
        "return c(a) * -1.0",
    ],
)
def test_a_line_with_a_minus_sign_is_recognised(line):
    assert NEGATION.search(line)


@pytest.mark.parametrize("line", ["loss = ce(a - b, y)", "loss = ce(out[:, -1], y)", "loss.backward()"])
def test_a_minus_sign_inside_an_argument_is_not_meant(line):
    assert not NEGATION.search(line)


def test_gradients_that_are_reversed_on_their_way_are_silent(history):
    history.run.records.append(
        ReachRecord(
            loss="loss", place=None, step=0, has_graph=True, num_nodes=9, num_reached=2, models=("net",), unreached=(),
            num_unreached=0, frozen=(), num_frozen=0, untouched=(), num_other_leaves=0, opaque=("ReverseBackward",),
        )
    )  # fmt: skip
    assert found(history, RISES, maximize=True) == []


def test_an_adversary_with_a_loss_of_its_own_is_silent(history):
    history.group(optimizer="other", subject="other", step=1, maximize=True)
    history.rates([0.1] * 30).rates([0.1] * 30, "other")
    assert found(history, RISES, maximize=True) == []


def test_without_an_optimizer_it_is_silent(history):
    history.losses([-value for value in RISES], sign=-1)
    assert list(ascending_loss(history.run)) == []


def test_four_losses_are_too_few(history):
    assert found(history, [1.0, 2.0, 3.0, 4.0], maximize=True) == []
    assert len(found(type(history)(), [1.0, 2.0, 3.0, 4.0, 5.0], maximize=True)) == 1


@pytest.mark.parametrize("first", [0.0, -1.0, math.nan, math.inf])
def test_a_criterion_that_begins_at_nothing_has_no_ratio(history, first):
    assert found(history, [first, *RISES], maximize=True) == []


def test_a_criterion_that_breaks_at_once_must_have_risen_at_each_step(history):
    assert len(found(history, [1.0, 5.0, 90.0, math.inf, math.nan, math.nan], maximize=True)) == 1
    assert found(type(history)(), [1.0, 5.0, 5.0, math.inf, math.nan, math.nan], maximize=True) == []
    assert found(type(history)(), [1.0, math.inf, math.nan, math.nan, math.nan], maximize=True) == []


def test_a_loss_of_several_losses_is_judged_by_the_looks_at_its_criterion(history):
    assert found(history, RISES, objective={"mixed": True}, maximize=True) == []
    other = type(history)()
    other.series("criterion", FALLS, ("loss",))
    assert found(other, RISES, maximize=True) == []


@pytest.mark.parametrize("scale", [0.0, -2.0, math.nan])
def test_a_factor_that_is_not_known_leaves_the_loss_aside(history, scale):
    assert found(history, RISES, objective={"scale": scale}, maximize=True) == []


def test_a_minus_sign_above_the_backward_is_looked_up_in_the_source(history):
    history.run.source = "other = -net(x)\nnegative.loss = -1\nloss = ce(out, y)\nloss = -loss\nloss.backward()\n"
    (finding,) = found(history, [-value for value in RISES], objective={"sign": -1})
    assert (finding.line, finding.source) == (4, "loss = -loss")
    assert "minus sign" in finding.fix


LOSS_OF_TWO = """
rate = net(x)
bce = F.binary_cross_entropy(rate, x)
kl = 0.5 * (1 + logvar - mu ** 2 - logvar.exp()).mean()
loss = bce + kl
loss.backward()
"""


def beside(history, losses, criterion, *, source="", **objective):
    history.run.source = source
    history.series("criterion", criterion, ("loss",))
    facts = {"criteria": ("binary_cross_entropy",), "mixed": True, **objective}
    return found(history, losses, objective=facts)


def test_a_term_beside_the_criterion_that_takes_the_loss_below_any_number_is_told_at_its_line(history):
    (finding,) = beside(history, [1.0 - 1.5**step for step in range(30)], [0.7, 0.6, 3.0], source=LOSS_OF_TWO)
    assert finding.source == "kl = 0.5 * (1 + logvar - mu ** 2 - logvar.exp()).mean()"
    assert finding.evidence["last over first value"] == pytest.approx(3.0 / 0.7)


def test_a_loss_that_falls_without_end_and_has_one_line_only_is_told_at_its_backward(history):
    (finding,) = beside(history, [1.0 - 1.25**step for step in range(30)], [0.7, 3.0])
    assert finding.source == "loss.backward()"


def test_a_loss_that_falls_without_end_is_told_whatever_its_criterion_does(history):
    assert len(beside(history, [1.0 - 1.5**step for step in range(30)], [0.7, 0.6])) == 1


@pytest.mark.parametrize(
    ("losses", "criterion", "objective"),
    [
        ([1.0 - 0.1 * step for step in range(30)], [0.7, 3.0], {}),
        ([1.0 - 1.25**step for step in range(30)], [0.7, 0.9], {}),
        ([1.0 - 1.5**step for step in range(30)], [0.7, 3.0], {"criteria": ("gaussian_nll_loss",)}),
        ([1.0 - 1.5**step for step in range(30)], [0.7, 3.0], {"mixed": False}),
        ([1.0 - 1.5**step for step in range(30)], [0.7, 3.0], {"log_prob": True}),
    ],
    ids=["ends somewhere", "the criterion stays", "may be negative", "alone", "a policy"],
)
def test_other_losses_below_zero_are_silent(history, losses, criterion, objective):
    assert beside(history, losses, criterion, **objective) == []


LINE = [0.1 * (1 - step / 20) for step in range(30)]


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        (LINE, ["the learning rate of opt falls below 0 at step 21: from there steps go up"]),
        ([max(rate, 0.0) for rate in LINE], []),
        ([*[0.1] * 26, *[-0.1] * 4], []),  # four steps
        ([-0.1] * 30, []),  # whoever begins so means it
        ([0.1] * 30, []),
    ],
)
def test_a_rate_that_falls_below_zero_is_told(history, rates, told):
    history.losses(RISES).group().rates(rates)
    findings = list(ascending_loss(history.run))
    assert [each.title for each in findings] == told
    assert [each.evidence["steps below 0"] for each in findings] == [9] * len(told)


def test_the_rate_that_a_next_step_would_have_is_no_step(history):
    history.losses(RISES).group().rates([*[0.1] * 26, *[-0.1] * 5])
    history.run.steps = 30
    assert list(ascending_loss(history.run)) == []
