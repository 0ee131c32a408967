"""This file tests the rule on updates that are too large, on courses written by hand."""

from torchmagic.rules.learning_rate.update_too_large import FROM_STEP, MAX_RATIO, update_too_large

NAMES = ("net.weight", "net.bias")


def found(history, ratios, *, lengths=None, **changes):
    return list(update_too_large(history.group(**changes).updates(ratios, lengths=lengths).run))


def test_steps_of_a_third_of_the_weights_are_told_at_the_optimizer(history):
    assert (MAX_RATIO, FROM_STEP) == (0.3, 10)
    (finding,) = found(history, [0.31] * 30)
    assert (finding.severity, finding.line, finding.parameter) == ("warning", 2, "net.weight")


def test_just_below_the_threshold_is_silent(history):
    assert found(history, [0.2999] * 30) == []


def test_the_first_ten_steps_do_not_count(history):
    assert found(history, [5.0] * 10 + [0.01] * 20) == []
    assert found(history, [5.0] * 10) == []


def test_weights_that_began_at_zero_are_silent(history):
    assert found(history, [0.5] * 30, lengths=[1e-5] + [1.0] * 29) == []


def test_what_belongs_to_no_model_is_silent(history):
    assert found(history, [0.5] * 30, parameters=("opt[0]",)) == []


def test_a_few_numbers_are_no_layer(history):
    assert found(history, [0.5] * 30, num_elements=1) == []


def looks(history, ratios, steps):
    history.group().series("weight_norm", [(1.0, 1.0)] * len(steps), NAMES, steps=steps)
    history.series("update_ratio", [(ratio, ratio) for ratio in ratios], NAMES, steps=steps).run.steps = 200
    return list(update_too_large(history.run))


def test_one_look_after_the_tenth_step_is_enough_where_it_is_far_above_and_the_tenth_counts(history):
    assert len(looks(history, [1.0, 1.0], (0, 10))) == 1
    assert looks(type(history)(), [0.5, 0.5], (0, 10)) == []


def test_a_few_looks_tell_only_together(history):
    assert looks(history, [0.38, 0.5, 0.3, 0.16], (20, 60, 100, 140)) == []
    assert len(looks(type(history)(), [0.38, 0.5, 0.31, 0.36], (20, 60, 100, 140))) == 1


def test_a_parameter_of_another_name_than_the_models_is_no_layer(history):
    history.group(parameters=("opt[0]",)).series("weight_norm", [1.0] * 30, ("opt[0]",))
    history.series("update_ratio", [0.5] * 30, ("opt[0]",)).run.steps = 30
    assert list(update_too_large(history.run)) == []
