"""This file tests the three rules on the birth of non-finite values, on records written by hand."""

import pytest

from torchmagic.analyses.cures import CURES, CURES_OF_CAUSES
from torchmagic.records.finding import Severity
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.records.place import Place
from torchmagic.rules.numerics.nonfinite_forward import nonfinite_forward
from torchmagic.rules.numerics.nonfinite_gradient import CURES as CURES_OF_GRADIENTS
from torchmagic.rules.numerics.nonfinite_gradient import nonfinite_gradient
from torchmagic.rules.numerics.nonfinite_input import nonfinite_input
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=11, source="loss = -p.log().mean()")


def run_with(birth, **facts):
    run = Run()
    run.records.append(NonfiniteRecord(birth=birth, step=6, place=LINE, num_nan=2, num_inf=1, num_elements=40, **facts))
    return run


def born(birth, **facts):
    run = run_with(birth, **facts)
    return {rule.id: list(rule(run)) for rule in (nonfinite_input, nonfinite_forward, nonfinite_gradient)}


@pytest.mark.parametrize(
    ("birth", "rule"),
    [
        (Birth.INPUT, "nonfinite-input"),
        (Birth.FORWARD, "nonfinite-forward"),
        (Birth.PARAMETER, "nonfinite-forward"),
        (Birth.BUFFER, "nonfinite-forward"),
        (Birth.UPDATE, "nonfinite-forward"),
        (Birth.GRADIENT, "nonfinite-gradient"),
    ],
)
def test_a_birth_belongs_to_one_rule(birth, rule):
    found = born(birth, module="net.0", parameter="net.0.weight")
    assert {name for name, findings in found.items() if findings} == {rule}
    (finding,) = found[rule]
    assert (finding.severity, finding.line, finding.step) == (Severity.ERROR, 11, 6)
    assert (finding.evidence["NaN"], finding.evidence["Inf"]) == (2, 1)


def test_a_bad_batch_says_which_columns():
    (finding,) = born(Birth.INPUT, model="net", where="columns 3 of 8")["nonfinite-input"]
    assert "columns 3 of 8" in finding.title
    assert "2 NaN" in finding.title
    assert finding.module == "net"


def test_the_logarithm_of_a_negative_number_is_not_to_be_clamped():
    (finding,) = born(Birth.FORWARD, op="log", cause=Cause.LOG_OF_NEGATIVE)["nonfinite-forward"]
    assert "argument is negative" in finding.fix
    assert "clamp" not in finding.fix


def test_an_operator_says_what_it_was_given_and_where():
    (finding,) = born(Birth.FORWARD, op="log", module="net.act", operands="8x4 from -1 to 2")["nonfinite-forward"]
    assert "log" in finding.title
    assert "net.act" in finding.title
    assert "8x4 from -1 to 2" in finding.why
    assert "clamp_min" in finding.fix


@pytest.mark.parametrize(
    ("operands", "said"),
    [
        ("8x4 from -1 to 2", "log was given 8x4 from -1 to 2, and its output holds"),
        ("given -1 to 2", "log was given -1 to 2, and its output holds"),
        ("2 from 0 to 1; 2 from 0 to 3, 1 zero", "log was given 2 from 0 to 1 and 2 from 0 to 3, 1 zero, and its"),
        ("", "The output of log holds the first value that is not."),
    ],
)
def test_what_an_operator_was_given_is_a_sentence(operands, said):
    (finding,) = born(Birth.FORWARD, op="log", operands=operands)["nonfinite-forward"]
    assert finding.why.startswith(f"Inputs and parameters were finite. {said}")


def test_an_operator_between_model_and_loss_is_told_to_be_there():
    (finding,) = born(Birth.FORWARD, op="log")["nonfinite-forward"]
    assert "in the loss" in finding.title
    assert finding.module is None


@pytest.mark.parametrize("op", [*CURES, "div_", "log10", "true_divide"])
def test_each_operator_has_advice(op):
    (finding,) = born(Birth.FORWARD, op=op)["nonfinite-forward"]
    assert finding.fix
    if op in CURES:
        assert finding.fix == CURES[op]


def test_a_birth_whose_operator_was_not_seen_is_less_sure():
    (unseen,) = born(Birth.FORWARD)["nonfinite-forward"]
    (seen,) = born(Birth.FORWARD, op="exp")["nonfinite-forward"]
    assert unseen.confidence < seen.confidence


def test_a_broken_parameter_is_named():
    (finding,) = born(Birth.PARAMETER, module="net.2", parameter="net.2.weight")["nonfinite-forward"]
    assert finding.parameter == "net.2.weight"
    assert finding.title.startswith("net.2.weight is non-finite before the forward")


def test_a_gradient_names_its_parameter_and_the_likely_operator():
    found = born(Birth.GRADIENT, parameter="net.0.weight", module="net.0", op="SqrtBackward0", num_parameters=3)
    (finding,) = found["nonfinite-gradient"]
    assert finding.parameter == "net.0.weight"
    assert "SqrtBackward0" in finding.why
    assert finding.evidence["parameters with such a gradient"] == 3


def test_a_finite_run_is_silent():
    assert [list(rule(Run())) for rule in (nonfinite_input, nonfinite_forward, nonfinite_gradient)] == [[], [], []]


def test_an_operator_that_a_replay_showed_is_surer_than_one_from_names():
    (named,) = born(Birth.FORWARD, op="exp")["nonfinite-forward"]
    (shown,) = born(Birth.FORWARD, op="exp", proven=True)["nonfinite-forward"]
    assert shown.confidence > named.confidence


@pytest.mark.parametrize("cause", CURES_OF_CAUSES)
def test_a_cause_has_advice_of_its_own(cause):
    (finding,) = born(Birth.FORWARD, op="mul", cause=cause)["nonfinite-forward"]
    assert finding.fix == CURES_OF_CAUSES[cause].replace("{parameters}", "model.parameters()")
    assert finding.evidence["cause"] == cause.value


def test_weights_that_exploded_say_since_when():
    (finding,) = born(Birth.FORWARD, op="pow", cause=Cause.EXPLODED_WEIGHTS, began=3)["nonfinite-forward"]
    assert "since step 3" in finding.why
    assert "learning rate" in finding.fix


def test_an_update_names_its_operator_and_what_helps():
    found = born(Birth.UPDATE, op="addcdiv_", parameter="net.0.weight", cause=Cause.ZERO_OVER_ZERO, began=2)
    (finding,) = found["nonfinite-forward"]
    assert "addcdiv_ in the update" in finding.title
    assert "since step 2" in finding.why
    assert "eps" in finding.fix
    assert not found["nonfinite-gradient"]


def test_a_gradient_that_the_loop_changed_is_not_laid_to_the_backward():
    facts = {"parameter": "net.bias", "cause": Cause.CHANGED_GRADIENT, "proven": True}
    (finding,) = born(Birth.GRADIENT, **facts)["nonfinite-gradient"]
    assert finding.title == "the gradient of net.bias is non-finite at step 6 although the backward left it finite"
    assert finding.why == "Run again, the backward gives finite gradients; this line changes them before the step."


def test_a_gradient_that_leaks_through_a_mask_says_so():
    facts = {"parameter": "net.0.weight", "op": "LogBackward0", "cause": Cause.MASK_LEAK, "proven": True}
    (finding,) = born(Birth.GRADIENT, **facts)["nonfinite-gradient"]
    assert finding.evidence["operator"] == "LogBackward0"
    assert "leaks through a mask" in finding.why
    assert "before the operator" in finding.fix


def test_a_bad_batch_says_which_rows():
    (finding,) = born(Birth.INPUT, model="net", where="columns 3 of 8", rows=(4, 9))["nonfinite-input"]
    assert finding.evidence["rows"] == "4, 9"


def test_a_buffer_is_told_by_its_module_and_the_evaluation():
    facts = {"module": "net.1", "parameter": "net.1.running_var", "evaluation": 3}
    (finding,) = born(Birth.BUFFER, **facts)["nonfinite-forward"]
    assert finding.title == "net.1: running_var is non-finite at step 6, evaluation 3"
    assert "evaluation mode does" in finding.why
    assert "net.1.reset_running_stats()" in finding.fix
    (finding,) = born(Birth.BUFFER, **{**facts, "parameter": "net.1.scale"})["nonfinite-forward"]
    assert "reset_running_stats" not in finding.fix


@pytest.mark.parametrize(("birth", "rule"), [(Birth.FORWARD, "nonfinite-forward"), (Birth.INPUT, "nonfinite-input")])
def test_an_origin_in_an_evaluation_says_which(birth, rule):
    (finding,) = born(birth, op="log", where="columns 3 of 8", evaluation=2)[rule]
    assert "step 6, evaluation 2" in finding.title
    (finding,) = born(birth, op="log", where="columns 3 of 8")[rule]
    assert "evaluation" not in finding.title


@pytest.mark.parametrize(("silences", "severity"), [(False, Severity.ERROR), (True, Severity.WARNING)])
def test_a_state_of_the_optimizer_is_told_by_its_name(silences, severity):
    facts = {"module": "net.0", "parameter": "net.0.weight", "state": "exp_avg_sq", "optimizer": "Adam"}
    (finding,) = born(Birth.UPDATE, silences=silences, cause=Cause.BAD_STATE, **facts)["nonfinite-forward"]
    assert "exp_avg_sq of net.0.weight in Adam" in finding.title
    assert (finding.severity, finding.parameter) == (severity, "net.0.weight")
    assert ("no longer updated" in finding.title) == silences
    assert ("was non-finite before the step" in finding.title) != silences


def test_a_column_without_any_finite_value_is_a_case_for_its_scale_and_not_for_zeros():
    (finding,) = born(Birth.INPUT, empty_columns=1)["nonfinite-input"]
    assert "clamp_min" in finding.fix
    assert "nan_to_num" not in finding.fix


@pytest.mark.parametrize("lost", [{"empty_columns": 1}, {"empty_rows": 2}])
def test_where_columns_or_samples_are_lost_the_only_line_that_divides_by_a_spread_is_named(lost):
    run = run_with(Birth.INPUT, **lost)
    run.texts = {"<cell 1>": "class Rows:\n    def __init__(self, x):\n        self.x = x / x.std(0)\n"}
    assert [each.source for each in nonfinite_input(run)] == ["self.x = x / x.std(0)"]
    run.texts["<cell 2>"] = "y = y / y.norm()\n"
    assert [each.source for each in nonfinite_input(run)] == [LINE.source]


def test_where_single_values_are_missing_no_line_divides():
    run = run_with(Birth.INPUT)
    run.texts = {"<cell 1>": "x = x / x.std(0)\n"}
    assert [each.source for each in nonfinite_input(run)] == [LINE.source]


def test_an_update_by_the_loop_itself_is_no_optimizers():
    (finding,) = born(Birth.UPDATE, parameter="w", optimizer="the loop")["nonfinite-forward"]
    assert "the loop's own update" in finding.why
    assert "divides" in finding.fix
    assert not {"cause", "given"} & finding.evidence.keys()  # neither shows
    (finding,) = born(Birth.UPDATE, parameter="w")["nonfinite-forward"]
    assert "the optimizer's update" in finding.why


@pytest.mark.parametrize("cause", CURES_OF_GRADIENTS)
def test_a_cause_of_a_gradient_has_advice_of_its_own(cause):
    (finding,) = born(Birth.GRADIENT, op="MulBackward0", cause=cause, proven=True)["nonfinite-gradient"]
    assert finding.fix == CURES_OF_GRADIENTS[cause]


def test_an_operator_is_told_without_the_underscores_of_its_name():
    (finding,) = born(Birth.FORWARD, op="_ctc_loss", cause=Cause.LONG_TARGET)["nonfinite-forward"]
    assert finding.title.startswith("ctc_loss makes")
    assert "zero_infinity" in finding.fix


def test_a_backward_inside_the_forward_is_cured_as_the_operator_of_its_node():
    facts = {"op": "SqrtBackward0", "cause": Cause.SQRT_AT_ZERO, "proven": True}
    (finding,) = born(Birth.FORWARD, **facts)["nonfinite-forward"]
    assert "torch.sqrt(" in finding.fix


def test_bad_data_that_an_operator_made_name_it_its_line_and_its_cure():
    facts = {
        "where": "columns 0 of 3",
        "op": "log",
        "operands": "64×1 from 0 to 3, 28 zeros",
        "cause": Cause.LOG_OF_ZERO,
    }
    (finding,) = born(Birth.INPUT, **facts)["nonfinite-input"]
    assert finding.title.endswith("(columns 0 of 3), made by log")
    assert (finding.line, finding.evidence["cause"]) == (11, "log of zero")
    assert finding.fix == CURES["log"]
    assert "log made them so" in finding.why
    (finding,) = born(Birth.INPUT, where="columns 0 of 3")["nonfinite-input"]
    assert "made" not in finding.title + finding.why


def test_bad_data_that_a_division_made_stay_at_its_line_where_others_divide_by_a_spread_too():
    run = run_with(Birth.INPUT, empty_columns=1, op="div", cause=Cause.ZERO_OVER_ZERO)
    run.texts = {"<cell 1>": "x = x / x.std(0)\n"}
    (finding,) = nonfinite_input(run)
    assert finding.source == LINE.source
    assert "clamp_min" in finding.fix


def test_what_is_not_known_of_a_loss_is_not_said():
    known, unknown = (born(Birth.GRADIENT, without_loss=each)["nonfinite-gradient"][0] for each in (False, True))
    assert known.title.endswith("although the loss is finite")
    assert unknown.title.endswith("at step 6")
    assert unknown.why == "No loss was seen in this step: either it is not finite, or its derivative is not."
