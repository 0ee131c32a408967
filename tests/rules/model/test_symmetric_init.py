"""This file tests the rules on layers whose units begin alike, or all zero, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.structure import EqualUnitsRecord
from torchmagic.rules.model.symmetric_init import MIN_STEPS, symmetric_init
from torchmagic.rules.model.zero_init import zero_init
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=7, source="nn.init.constant_(net[0].weight, 0.1)")


def looked_at(*looks, parameter="net.0.weight", source="", norm=1.0, class_name="Linear"):
    """Return a run with one look at a weight for each mapping of facts, at the steps 0, 1, 2, 5 and 8."""
    run = Run(source=source)
    for step, facts in zip((0, 1, 2, 5, 8), looks, strict=False):
        run.frame("grad_norm", ("",)).append(step, (norm,))
        run.records.append(look(parameter, step, class_name=class_name, **facts))
    return run


def look(parameter, step, **facts):
    told = {
        "parameter": parameter,
        "module": parameter.rpartition(".")[0],
        "class_name": "Linear",
        "step": step,
        "num_units": 32,
        "weight_deviation": 0.0,
        "gradient_deviation": 0.0,
        "is_zero": False,
        "has_gradient": True,
        "gradient_is_zero": False,
        "place": None,
    }
    return EqualUnitsRecord(**{**told, **facts})


def test_units_that_stay_alike_over_five_steps_are_an_error():
    assert MIN_STEPS == 5
    (finding,) = symmetric_init(looked_at({}, {}, {}, {}))
    assert (finding.severity, finding.module, finding.parameter) == (Severity.ERROR, "net.0", "net.0.weight")
    assert "32 units of net.0" in finding.title


def test_four_steps_are_not_enough():
    run = looked_at({}, {}, {})
    run.records.append(look("net.0.weight", 4))
    assert not list(symmetric_init(run))


def test_units_that_part_are_silent():
    assert not list(symmetric_init(looked_at({}, {}, {}, {"weight_deviation": 0.2})))


def test_gradients_that_differ_are_silent_even_before_the_weights_do():
    assert not list(symmetric_init(looked_at({}, {}, {}, {"gradient_deviation": 0.2})))


def test_rounding_is_not_a_difference():
    looks = [{"weight_deviation": 9e-5, "gradient_deviation": 9e-3}] * 4
    assert len(list(symmetric_init(looked_at(*looks)))) == 1


def test_a_layer_that_gets_no_gradient_is_silent():
    assert not list(symmetric_init(looked_at(*[{"has_gradient": False}] * 4)))


def test_an_output_layer_that_begins_at_zero_and_moves_is_silent_in_both():
    run = looked_at({"is_zero": True, "gradient_deviation": 1.9}, *[{"weight_deviation": 1.8}] * 3)
    assert not list(symmetric_init(run))
    assert not list(zero_init(run))


def test_a_hidden_layer_that_begins_at_zero_and_moves_as_one_is_symmetric_and_not_zero():
    run = looked_at({"is_zero": True, "gradient_is_zero": True}, {}, {}, {})
    assert len(list(symmetric_init(run))) == 1
    assert not list(zero_init(run))


def test_zeros_that_stay_without_a_gradient_are_zero_and_not_symmetric():
    run = looked_at(*[{"is_zero": True, "gradient_is_zero": True}] * 4)
    (finding,) = zero_init(run)
    assert (finding.severity, finding.module) == (Severity.ERROR, "net.0")
    assert not list(symmetric_init(run))


@pytest.mark.parametrize(
    "looks",
    [
        [{"is_zero": True, "gradient_is_zero": True}] * 3,  # two steps
        [{"is_zero": True}] * 4,  # a gradient comes, as to a learning rate of zero
        [{"is_zero": True, "has_gradient": False}] * 4,  # a layer that does not run
    ],
)
def test_zeros_are_silent_where_they_are_no_cause(looks):
    assert not list(zero_init(looked_at(*looks)))


def test_zeros_are_silent_where_nothing_at_all_gets_a_gradient():
    assert not list(zero_init(looked_at(*[{"is_zero": True, "gradient_is_zero": True}] * 4, norm=0.0)))


def test_the_line_that_filled_the_weight_is_told():
    (finding,) = symmetric_init(looked_at({"place": LINE}, {}, {}, {}))
    assert (finding.line, finding.source) == (7, LINE.source)


def test_without_it_the_cell_is_searched_for_the_module_and_then_for_any_weight():
    source = "nn.init.zeros_(head.bias)\nnn.init.ones_(other.weight)\nnn.init.ones_(body.weight)\n"
    (finding,) = symmetric_init(looked_at({}, {}, {}, {}, parameter="net.body.weight", source=source))
    assert finding.line == 3
    (finding,) = symmetric_init(looked_at({}, {}, {}, {}, source=source))
    assert finding.line == 2


def filled(drift, class_name="Linear", second=True):
    looks = [{}] + [{"weight_deviation": drift, "gradient_deviation": 0.5}] * 4
    run = looked_at(*looks, class_name=class_name)
    if second:
        run.records += [
            look("net.2.weight", step, gradient_deviation=1.5, weight_deviation=step / 5) for step in (0, 5)
        ]
    return run


def test_two_filled_layers_whose_units_hardly_part_count_with_less_confidence():
    (finding,) = symmetric_init(filled(0.02))
    assert (finding.module, finding.confidence) == ("net.0", 0.75)


@pytest.mark.parametrize(
    "run",
    [filled(0.2), filled(0.02, second=False), filled(0.02, class_name="Scale")],
    ids=["parts", "one", "own class"],
)
def test_other_constants_may_be_meant(run):
    assert not list(symmetric_init(run))


def test_zeros_are_told_where_no_gradient_was_measured_at_all_only_if_others_have_one():
    run = looked_at(*[{"is_zero": True, "gradient_is_zero": True}] * 4)
    run.records.append(look("other.0.weight", 0))
    (finding,) = zero_init(run)
    assert finding.module == "net.0"


def test_weights_that_leave_zero_at_a_later_look_are_no_longer_zero():
    looks = [{"is_zero": True, "gradient_is_zero": True}] * 3
    assert not list(zero_init(looked_at(*looks, {"is_zero": False})))


def test_two_models_that_begin_alike_are_two_findings():
    run = looked_at({}, {}, {}, {})
    run.records += looked_at({}, {}, {}, {}, parameter="other.0.weight").records
    assert len({finding.module for finding in symmetric_init(run)}) == 2
