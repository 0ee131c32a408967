"""This file tests the rule on tensors that nobody registered, on records written by hand."""

import pytest

from torchmagic.records.connection import UnregisteredRecord
from torchmagic.records.finding import Severity
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.rules.parameters.unregistered_parameter import MIN_STEPS, unregistered_parameter
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=4, source="self.layers = [nn.Linear(8, 8)]", function="__init__")
NOTHING = CrashRecord(
    error="ValueError", message="optimizer got an empty parameter list", file="<cell>", line=9, source="opt = …"
)


def stray(**changed):
    facts = {
        "module": "net",
        "attribute": "layers",
        "container": "list",
        "class_name": "Linear",
        "num_parameters": 2,
        "owned": 0,
        "registered": 0,
        "changed": False,
        "looks": 1,
        "place": LINE,
    }
    return UnregisteredRecord(**{**facts, **changed})


def found(*records, steps=5, source=""):
    run = Run(source=source)
    run.steps = steps
    run.records += records
    return list(unregistered_parameter(run))


def test_layers_in_a_list_are_told_at_the_line_that_makes_the_list():
    (finding,) = found(stray())
    assert (finding.severity, finding.module) == (Severity.ERROR, "net.layers")
    assert (finding.line, finding.source) == (4, LINE.source)


@pytest.mark.parametrize(
    ("container", "class_name", "fix"),
    [
        ("list", "Linear", "nn.ModuleList"),
        ("dict", "Linear", "nn.ModuleDict"),
        ("Tensor", "Tensor", "nn.Parameter("),
        ("list", "Tensor", "nn.ParameterList"),
        ("dict", "Parameter", "nn.ParameterDict"),
    ],
)
def test_the_remedy_is_what_torch_has_for_such_a_container(container, class_name, fix):
    (finding,) = found(stray(container=container, class_name=class_name))
    assert fix in finding.fix


def test_lists_in_a_list_need_lists_that_are_seen_as_well():
    assert "append(nn.ModuleList([...]))" in found(stray(), source="self.layers.append([lin, act])")[0].fix
    assert "append" not in found(stray(), source="self.layers.append(lin)")[0].fix


def test_two_steps_are_enough_and_one_is_not():
    assert MIN_STEPS == 2
    assert len(found(stray(), steps=2)) == 1
    assert found(stray(), steps=1) == []


def test_tensors_that_an_optimizer_holds_are_silent():
    assert found(stray(owned=2)) == []
    assert len(found(stray(owned=1))) == 1


def test_tensors_that_another_model_registers_are_silent():
    assert found(stray(registered=2)) == []


def test_tensors_that_somebody_updates_by_hand_are_silent():
    assert found(stray(changed=True)) == []


def test_tensors_that_no_loss_reached_are_silent_unless_nothing_else_could_be_trained():
    assert found(stray(looks=0)) == []
    assert len(found(stray(looks=0), NOTHING, steps=0)) == 1


def test_tensors_that_a_loss_reached_are_silent_in_a_run_without_a_step():
    assert found(stray(looks=1), NOTHING, steps=0) == []
    assert found(stray(looks=0), steps=0) == []


def test_what_a_function_in_an_attribute_keeps_is_called_by_the_functions_name_for_it():
    (finding,) = found(stray(attribute="body", variable="layers"))
    assert (finding.module, "net.body, kept by a function as layers," in finding.title) == ("net.body", True)
    assert finding.fix == "self.layers = nn.ModuleList(...)  # in __init__; self.body has to use what is registered"


@pytest.mark.parametrize(
    ("container", "class_name", "fix"),
    [
        ("list", "Linear", "self.extra = nn.ModuleList(extra)"),
        ("dict", "Linear", "self.extra = nn.ModuleDict(extra)"),
        ("Linear", "Linear", "self.extra = extra"),
        ("list", "Parameter", "self.extra = nn.ParameterList(extra)"),
        ("Tensor", "Tensor", "self.extra = nn.Parameter(extra)"),
    ],
)
def test_what_a_forward_takes_from_around_it_can_be_registered_as_it_is(container, class_name, fix):
    (finding,) = found(stray(attribute="", variable="extra", container=container, class_name=class_name))
    assert finding.module == "net"
    assert (
        finding.title
        == "2 trainable tensors in extra, which the forward of net takes from around it, are not registered"
    )
    assert finding.fix == f"{fix}  # in __init__; forward has to use what is registered"
