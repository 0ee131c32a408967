"""This file tests the rules on evaluations, on records written by hand."""

from dataclasses import replace

import pytest

from torchmagic.records.evaluation import AwakeDropoutRecord, EvaluationRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord, OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.modes.batchnorm_extra_forward import batchnorm_extra_forward
from torchmagic.rules.modes.functional_dropout_in_eval import functional_dropout_in_eval
from torchmagic.rules.modes.no_grad_evaluation_missing import no_grad_evaluation_missing
from torchmagic.rules.modes.train_mode_evaluation import train_mode_evaluation
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=9, source="out = net(xb)")
PASS = EvaluationRecord(
    model="net", step=20, loader="valid", num_batches=4, num_losses=0, training=True, grad_enabled=False,
    recorded_graph=False, awake=("net.1", "net.3"), loss_names=(), also_trained=True, trained_on=False, place=LINE,
    norms=("net.1",),
)  # fmt: skip

LOADER = LoaderRecord(
    name="valid", dataset="TensorDataset", num_samples=8, batch_size=8, num_batches=1, sampler="SequentialSampler",
    num_workers=0, pin_memory=False, drop_last=False,
)  # fmt: skip


def found(rule, *records):
    run = Run()
    run.records += records
    return list(rule(run))


def each_step(count, **changes):
    return [replace(PASS, step=step, loader="", num_batches=1, **changes) for step in range(count)]


def optimizer(name, *parameters):
    return OptimizerRecord(name=name, class_name="Adam", lr=(0.1,), parameters=parameters)


def test_an_evaluation_in_training_mode_is_told_where_the_model_is_called():
    (finding,) = found(train_mode_evaluation, PASS)
    assert (finding.severity, finding.line, finding.module) == (Severity.WARNING, 9, "net.1")


def test_one_batch_is_silent_and_two_passes_of_one_are_not():
    one = replace(PASS, num_batches=1)
    assert found(train_mode_evaluation, one) == []
    assert len(found(train_mode_evaluation, one, replace(one, step=40))) == 1


@pytest.mark.parametrize("changes", [{"training": False}, {"awake": ()}, {"also_trained": False}])
def test_dropout_that_was_set_to_training_no_such_layers_and_a_teacher_are_silent(changes):
    assert found(train_mode_evaluation, replace(PASS, **changes)) == []


AVERAGE = replace(PASS, model="average", also_trained=False, num_losses=4)
TRAINED = replace(PASS, training=False, awake=(), num_losses=4)


def test_an_average_that_is_evaluated_as_the_model_is_but_in_training_mode_is_told():
    (finding,) = found(train_mode_evaluation, TRAINED, AVERAGE)
    assert finding.fix == "average.eval()  # before the evaluation"


@pytest.mark.parametrize(
    "records",
    [
        (AVERAGE,),
        (TRAINED, replace(AVERAGE, num_losses=0)),
        (TRAINED, replace(AVERAGE, grad_enabled=True)),
        (replace(TRAINED, num_losses=0), AVERAGE),
        (replace(TRAINED, place=None), AVERAGE),
        (replace(TRAINED, training=True), AVERAGE),
        (replace(TRAINED, model="average"), AVERAGE),
    ],
)
def test_a_model_that_nobody_trains_and_that_is_not_evaluated_as_another_is_silent(records):
    assert found(train_mode_evaluation, *records) == []


def test_a_forward_of_each_step_on_new_data_is_part_of_the_training():
    assert found(train_mode_evaluation, *each_step(8)) == []
    assert len(found(batchnorm_extra_forward, *each_step(8))) == 1


def test_a_forward_of_each_step_on_the_same_tensor_is_an_evaluation():
    passes = [replace(each, same_input=each.step > 0) for each in each_step(8)]
    assert len(found(train_mode_evaluation, *passes)) == 1
    assert found(batchnorm_extra_forward, *passes) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"loader": "valid", "num_losses": 1}, 1),
        ({"loader": "other", "num_losses": 1}, 0),  # of two batches: one is fetched at each step
        ({"loader": "valid", "num_losses": 0}, 0),  # labels for what has none
        ({"loader": "valid", "num_losses": 1, "trained_on": True}, 0),
        ({"loader": "valid", "num_losses": 1, "grad_enabled": True}, 0),
    ],
)
def test_a_loss_of_a_whole_loader_at_each_step_is_an_evaluation(changes, told):
    loaders = [replace(LOADER, name=name, num_batches=number) for name, number in (("valid", 1), ("other", 2))]
    passes = [replace(each, **changes) for each in each_step(8)]
    assert len(found(train_mode_evaluation, *loaders, *passes)) == told
    assert len(found(batchnorm_extra_forward, *loaders, *passes)) == 1 - told


def test_samples_of_a_generator_are_silent_and_its_evaluation_on_a_loader_is_not():
    two = optimizer("opt_g", "net.0.weight"), optimizer("opt_d", "D.0.weight")
    samples = [replace(PASS, loader="", step=step) for step in (0, 50)]
    assert found(train_mode_evaluation, *samples, *two) == []
    assert len(found(train_mode_evaluation, *samples, two[0])) == 1
    assert len(found(train_mode_evaluation, PASS, *two)) == 1


def test_statistics_are_left_alone_by_layers_without_them_and_by_two_networks():
    assert found(batchnorm_extra_forward, *each_step(8, norms=())) == []
    two = optimizer("opt_g", "net.0.weight"), optimizer("opt_d", "D.0.weight")
    assert found(batchnorm_extra_forward, *each_step(8), *two) == []
    assert found(batchnorm_extra_forward, *each_step(2)) == []


def test_graphs_for_nothing_are_worth_knowing():
    (finding,) = found(
        no_grad_evaluation_missing, replace(PASS, training=False, grad_enabled=True, recorded_graph=True)
    )
    assert (finding.severity, finding.line) == (Severity.INFO, 9)
    assert found(no_grad_evaluation_missing, PASS) == []
    assert found(no_grad_evaluation_missing, replace(PASS, recorded_graph=True, num_batches=1)) == []


def test_graphs_of_which_derivatives_are_taken_are_not_for_nothing():
    run = Run(source="grads = torch.autograd.grad(risk(x), parameters)\nwant.grad = None")
    run.records.append(replace(PASS, grad_enabled=True, recorded_graph=True))
    assert list(no_grad_evaluation_missing(run)) == []
    run.source = "net.weight.grad = None"
    assert len(list(no_grad_evaluation_missing(run))) == 1


def test_each_line_with_active_dropout_is_told():
    record = AwakeDropoutRecord(module="net", step=3, function="dropout", p=0.5, times=7, also_trained=True, place=LINE)
    (finding,) = found(functional_dropout_in_eval, record)
    assert (finding.severity, finding.line, finding.module) == (Severity.WARNING, 9, "net")
    assert "50%" in finding.title


OTHER = Place(file="<cell>", line=30, source="again = net(test)")


@pytest.mark.parametrize("rule", [train_mode_evaluation, no_grad_evaluation_missing])
def test_single_batches_of_two_lines_do_not_add_up(rule):
    one = replace(PASS, num_batches=1, recorded_graph=True)
    assert found(rule, one, replace(one, place=OTHER)) == []
    assert len(found(rule, replace(one, num_batches=2))) == 1


def test_forwards_of_two_lines_are_not_those_of_each_step():
    some, rest = each_step(2), [replace(each, place=OTHER, step=each.step + 2) for each in each_step(1)]
    assert found(batchnorm_extra_forward, *some, *rest) == []
    assert len(found(batchnorm_extra_forward, *each_step(3))) == 1


def test_statistics_are_left_alone_in_evaluation_mode_and_where_nothing_is_trained():
    assert found(batchnorm_extra_forward, *each_step(8, training=False)) == []
    assert found(batchnorm_extra_forward, *each_step(8, also_trained=False)) == []


def test_a_model_that_is_evaluated_at_two_lines_on_the_same_loader_is_told_once():
    assert len(found(train_mode_evaluation, PASS, replace(PASS, place=OTHER))) == 1
    assert len(found(train_mode_evaluation, PASS, replace(PASS, place=OTHER, loader="test"))) == 2


def test_an_evaluation_with_a_loss_beside_an_adversary_is_told():
    two = optimizer("opt_g", "net.0.weight"), optimizer("opt_d", "D.0.weight")
    measured = [replace(PASS, loader="", num_losses=1, step=step) for step in (0, 50)]
    assert len(found(train_mode_evaluation, *measured, *two)) == 1
