"""This file tests the rule on parameters that no forward uses, on records written by hand."""

import pytest

from torchmagic.records.connection import DROPPED, GradientFlowRecord, UnreachedRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.protocol import UnownedGradientsRecord
from torchmagic.rules.parameters.unused_parameter import MIN_STEPS, unused_parameter
from torchmagic.session.run import Run


def unreached(**changed):
    facts = {
        "optimizer": "opt",
        "module": "net.skip",
        "whole": True,
        "parameters": ("net.skip.weight", "net.skip.bias"),
        "num_parameters": 2,
        "steps": 9,
        "executed": 0,
        "changed": False,
        "stepped_before": False,
        "varies": False,
        "cut": None,
        "how": "",
    }
    return UnreachedRecord(**{**facts, **changed})


def flow(*, num_received=2, twin=""):
    return GradientFlowRecord(
        optimizer="opt",
        steps=9,
        num_trainable=4,
        num_received=num_received,
        frozen=(),
        num_frozen=0,
        groups=(),
        twin=twin,
        num_backwards=9,
        place=None,
    )


def found(*records):
    run = Run()
    run.records += records
    return list(unused_parameter(run))


def test_a_module_that_never_ran_is_told_with_its_path():
    (finding,) = found(flow(), unreached())
    assert (finding.severity, finding.module) == (Severity.WARNING, "net.skip")
    assert "no forward uses it" in finding.title


def test_a_module_whose_output_is_not_used_is_told_as_such():
    (finding,) = found(flow(), unreached(executed=5))
    assert "its output is not used" in finding.title


def test_a_parameter_beside_others_that_train_is_told_by_its_name():
    (finding,) = found(flow(), unreached(module="net", whole=False, parameters=("net.scale",), num_parameters=1))
    assert finding.parameter == "net.scale"
    assert finding.title.startswith("net.scale")


def test_five_steps_are_enough_and_four_are_not():
    assert MIN_STEPS == 5
    assert len(found(flow(), unreached(steps=5))) == 1
    assert found(flow(), unreached(steps=4)) == []


@pytest.mark.parametrize("reason", ["changed", "stepped_before", "varies"])
def test_heads_used_at_other_times_and_values_set_by_hand_are_silent(reason):
    assert found(flow(), unreached(**{reason: True})) == []


def test_where_nothing_has_a_gradient_other_rules_say_why():
    assert found(flow(num_received=0), unreached()) == []
    assert found(flow(num_received=0, twin="net"), unreached()) == []


@pytest.mark.parametrize(("optimizer", "module"), [("opt", ""), ("trainer.opt", "trainer")])
def test_tensors_of_a_layer_that_was_replaced_are_left_to_the_rule_on_the_new_one(optimizer, module):
    names = (f"{optimizer}[4]",)
    orphans = unreached(optimizer=optimizer, module=module, whole=False, parameters=names, num_parameters=1)
    replaced = UnownedGradientsRecord(
        model="net", step=0, parameters=("net.fc.weight",), changed=(), owned=2, training=True
    )
    assert found(flow(), orphans, replaced) == []
    assert found(flow(), unreached(parameters=("net.fc.weight",)), replaced) == []
    assert len(found(flow(), orphans)) == 1


CUT = Place(file="<cell>", line=6, source="h = self.skip(x).detach()")


@pytest.mark.parametrize(("executed", "told"), [(2, 1), (3, 0)])
def test_a_cut_explains_it_from_the_third_forward_on(executed, told):
    assert len(found(flow(), unreached(executed=executed, cut=CUT, how=".detach()"))) == told


def test_what_is_thrown_away_on_purpose_is_worth_knowing_only():
    run = Run()
    run.records += [flow(), unreached(executed=5, how=DROPPED)]
    (finding,) = unused_parameter(run)
    assert (finding.severity, "its output is not used" in finding.title) == (Severity.INFO, True)


def test_what_a_librarys_own_model_leaves_out_is_worth_knowing_only():
    (finding,) = found(flow(), unreached(executed=5, of_library=True))
    assert finding.severity is Severity.INFO
    assert "a library's code" in finding.why
    assert finding.fix == "net.skip.requires_grad_(False)"
    (finding,) = found(flow(), unreached(whole=False, parameters=("net.a", "net.b"), num_parameters=2, of_library=True))
    assert finding.fix == "net.a.requires_grad_(False)"
