"""This file tests the rule on parameters that no optimizer owns, on records written by hand."""

from torchmagic.records.finding import Severity
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.records.protocol import UnownedGradientsRecord
from torchmagic.rules.parameters.param_not_in_optimizer import MIN_ITERATIONS, param_not_in_optimizer
from torchmagic.session.run import Run

HEAD = ("net.fc.weight", "net.fc.bias")


def unowned(times, *, parameters=HEAD, changed=(), owned=4, training=True, model="net"):
    return [
        UnownedGradientsRecord(
            model=model, step=step, parameters=parameters, changed=changed, owned=owned, training=training
        )
        for step in range(times)
    ]


def found(*records, source=""):
    run = Run(source=source)
    run.records.append(
        OptimizerRecord(
            name="opt",
            class_name="Adam",
            lr=(0.1,),
            parameters=(),
            place=Place(file="<cell>", line=9, source="opt.step()"),
        )
    )
    run.records += records
    return list(param_not_in_optimizer(run))


def test_three_iterations_with_a_gradient_are_enough():
    assert MIN_ITERATIONS == 3
    (finding,) = found(*unowned(3))
    assert (finding.severity, finding.module, finding.parameter) == (Severity.ERROR, "net.fc", "net.fc.weight")
    assert (finding.optimizer, finding.line) == ("opt", 9)
    assert finding.evidence["parameters"] == 2


def test_two_iterations_are_silent():
    assert found(*unowned(2)) == []


def test_a_parameter_that_somebody_else_updates_is_silent():
    assert found(*unowned(2), *unowned(3, changed=HEAD)) == []


def test_of_two_parameters_only_the_one_that_nobody_updates_is_named():
    (finding,) = found(*unowned(4, changed=("net.fc.weight",)))
    assert finding.parameter == "net.fc.bias"


def test_a_parameter_that_had_a_gradient_now_and_then_is_counted_by_itself():
    records = [*unowned(2), *unowned(2, parameters=("net.fc.weight",))]
    (finding,) = found(*records)
    assert finding.evidence["parameters"] == 1


def test_a_fixed_network_in_evaluation_mode_is_silent():
    assert found(*unowned(5, owned=0, training=False)) == []


def test_a_forgotten_network_in_training_mode_is_told_with_less_confidence():
    (forgotten,) = found(*unowned(5, owned=0))
    (part,) = found(*unowned(5))
    assert forgotten.confidence < part.confidence


def test_two_models_are_two_findings():
    findings = found(*unowned(3), *unowned(3, model="encoder", parameters=("encoder.weight",)))
    assert [finding.module for finding in findings] == ["net.fc", "encoder"]


def test_the_line_that_replaces_the_module_is_the_place():
    source = "opt = Adam(net.parameters())\nnet.fc = nn.Linear(4, 2)\n"
    (finding,) = found(*unowned(3), source=source)
    assert (finding.line, finding.source) == (2, "net.fc = nn.Linear(4, 2)")


def test_the_line_in_the_class_that_makes_the_module_is_not_the_place():
    source = "class Net:\n    def __init__(self):\n        self.fc = nn.Linear(4, 9)\nnet.fc = nn.Linear(4, 2)\n"
    (finding,) = found(*unowned(3), source=source)
    assert finding.line == 4


def test_many_parameters_are_counted_and_a_few_named():
    names = tuple(f"net.layer{i}.weight" for i in range(9))
    (finding,) = found(*unowned(3, parameters=names))
    assert "and 5 more" in finding.title


def test_a_part_of_a_model_that_trains_is_told_in_evaluation_mode_too():
    assert len(found(*unowned(3, owned=4, training=False))) == 1
    assert found(*unowned(3, owned=0, training=False)) == []


def test_the_parameters_are_written_as_code_has_them():
    whole = unowned(3, model="dec", parameters=("dec.0.weight", "dec.2.weight"), owned=0)
    assert "add_param_group({'params': dec.parameters()})" in found(*whole)[0].fix
    layer = unowned(3, parameters=("net.2.0.weight", "net.2.0.bias"))
    assert "{'params': net[2][0].parameters()}" in found(*layer)[0].fix
    layers = unowned(3, parameters=("net.0.weight", "net.fc.weight"))
    assert "{'params': [*net[0].parameters(), *net.fc.parameters()]}" in found(*layers)[0].fix
    tensor = unowned(3, parameters=("net.scale",))
    assert "{'params': [net.scale]}" in found(*tensor)[0].fix


def other(name, *parameters):
    return OptimizerRecord(name=name, class_name="Adam", lr=(0.1,), parameters=parameters, place=None)


def test_of_several_optimizers_the_one_that_owns_others_of_the_model_is_named():
    (finding,) = found(*unowned(3), other("second", "net.body.weight"))
    assert finding.optimizer == "second"
    assert "second.add_param_group" in finding.fix


def test_where_none_of_several_owns_any_of_the_model_none_is_blamed():
    (finding,) = found(*unowned(3, owned=0), other("second", "enc.weight"))
    assert finding.optimizer is None
    assert "one of opt, second: add_param_group" in finding.fix


def test_optimizers_of_one_name_are_counted_and_not_listed():
    facts = {"class_name": "Adam", "lr": (0.1,), "parameters": ()}
    others = [OptimizerRecord(name="opt", **facts) for _ in range(3)]
    (finding,) = found(*others, *unowned(3))
    assert "one of the 4 that are called opt: " in finding.fix
    (finding,) = found(OptimizerRecord(name="second", **facts), *unowned(3))
    assert "one of opt, second: " in finding.fix


def test_a_parameter_of_no_model_is_told_by_its_own_name():
    (finding,) = found(*unowned(3, parameters=("gate",), owned=0, model=""), source="gate = 1\nopt.step()")
    assert (finding.module, finding.parameter, finding.line) == (None, "gate", 9)
    assert finding.fix == "build opt when the model is complete, or: opt.add_param_group({'params': [gate]})"


def test_a_parameter_of_no_model_may_be_there_for_its_gradient():
    assert found(*unowned(3, parameters=("gate",), owned=0, model=""), source="seen.append(gate.grad.norm())") == []
