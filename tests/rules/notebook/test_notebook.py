"""The rules about what earlier cells left, on records written by hand."""

import pytest

from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.finding import Severity
from torchmagic.records.memory import HolderRecord
from torchmagic.records.notebook import (
    GlobalModesRecord,
    LeftoverGradientsRecord,
    OptimizerStateRecord,
    RepeatedHookRecord,
    RerunRecord,
)
from torchmagic.rules.notebook.continued_training import continued_training
from torchmagic.rules.notebook.global_mode_left import global_mode_left
from torchmagic.rules.notebook.held_by_output import held_by_output
from torchmagic.rules.notebook.held_by_traceback import held_by_traceback
from torchmagic.rules.notebook.hooks_piling_up import hooks_piling_up
from torchmagic.rules.notebook.inference_in_training_mode import inference_in_training_mode
from torchmagic.rules.notebook.leftover_gradients import leftover_gradients
from torchmagic.session.run import Run

MIB = 2**20


def run_of(*records, source="", steps=0):
    run = Run(source=source)
    run.records += records
    run.steps = steps
    return run


def held(num_bytes, *, keeper="output", name="Out[3]", also=""):
    return HolderRecord(
        name=name,
        keeper=keeper,
        num_bytes=num_bytes,
        shape=(1,),
        dtype="float32",
        device="cpu",
        has_graph=False,
        also=also,
    )


def evaluation(**changes):
    fields = {
        "model": "net",
        "step": 0,
        "loader": "",
        "num_batches": 2,
        "num_losses": 0,
        "training": True,
        "grad_enabled": False,
        "recorded_graph": False,
        "awake": ("net.1",),
        "loss_names": (),
        "also_trained": False,
        "trained_on": False,
        "place": None,
    }
    return EvaluationRecord(**{**fields, **changes})


def repeated(hook="keep", subject="net.0", count=2):
    return RepeatedHookRecord(subject=subject, hook=hook, how="register_forward_hook", count=count, at_start=count)


def leftover(share):
    return LeftoverGradientsRecord(optimizer="opt", num_parameters=2, total=4, share=share)


def test_a_mode_that_was_left_on_is_told_with_the_way_back():
    record = GlobalModesRecord(changed={"torch.set_grad_enabled": "False"}, kept=("torch.set_grad_enabled",))
    (finding,) = global_mode_left(run_of(record))
    assert finding.severity is Severity.INFO
    assert finding.fix == "torch.set_grad_enabled(True)"


def test_a_mode_that_the_cell_set_back_itself_is_not_told():
    record = GlobalModesRecord(changed={"torch.set_grad_enabled": "False"}, kept=())
    assert list(global_mode_left(run_of(record))) == []


def test_training_goes_on_only_where_the_same_source_ran_before():
    state = OptimizerStateRecord(optimizer="opt", steps=240, keys=("exp_avg",))
    assert list(continued_training(run_of(state))) == []
    (finding,) = continued_training(run_of(RerunRecord(times=1, steps=240), state))
    assert "240 steps" in finding.title
    assert finding.severity is Severity.INFO


def test_a_rerun_with_a_fresh_optimizer_is_a_new_experiment():
    assert list(continued_training(run_of(RerunRecord(times=1, steps=240)))) == []


def test_hooks_are_told_once_a_function_with_the_place_that_has_most():
    records = [repeated(count=2), repeated(subject="net.2", count=5), repeated(hook="count")]
    first, second = hooks_piling_up(run_of(*records))
    assert (first.module, first.evidence["registered"], first.evidence["places"]) == ("net.2", 5, 2)
    assert second.title.startswith("the hook count")


def test_a_changed_threshold_counts():
    assert list(hooks_piling_up(run_of(repeated(count=2)), min_count=3)) == []


@pytest.mark.parametrize(("share", "told"), [(0.5, True), (0.011, True), (0.009, False), (0.0, False)])
def test_old_gradients_are_told_when_they_weigh_something(share, told):
    assert bool(list(leftover_gradients(run_of(leftover(share))))) is told


@pytest.mark.parametrize(("keeper", "rule"), [("output", held_by_output), ("traceback", held_by_traceback)])
def test_what_only_the_notebook_keeps_is_told_from_a_size_on(keeper, rule):
    assert list(rule(run_of(held(15 * MIB, keeper=keeper)))) == []
    (finding,) = rule(run_of(held(10 * MIB, keeper=keeper), held(12 * MIB, keeper=keeper, name="b")))
    assert (finding.evidence["MiB"], finding.severity) == (22, Severity.INFO)
    (finding,) = rule(run_of(held(2**30, keeper=keeper)))
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(("keeper", "rule"), [("output", held_by_output), ("traceback", held_by_traceback)])
def test_what_a_variable_or_the_other_keeper_holds_is_not_told(keeper, rule):
    other = {"output": "traceback", "traceback": "output"}[keeper]
    assert list(rule(run_of(held(99 * MIB, keeper=keeper, also="data"), held(99 * MIB, keeper=other)))) == []


def test_a_prediction_in_training_mode_is_told():
    (finding,) = inference_in_training_mode(run_of(evaluation()))
    assert (finding.module, finding.severity) == ("net.1", Severity.WARNING)


@pytest.mark.parametrize(
    "changes",
    [{"training": False}, {"awake": ()}, {"grad_enabled": True}],
    ids=["in evaluation mode", "nothing depends on the mode", "with gradients"],
)
def test_other_forwards_are_not_told(changes):
    assert list(inference_in_training_mode(run_of(evaluation(**changes)))) == []


def test_a_cell_that_trains_or_switches_modes_itself_is_left_to_others():
    assert list(inference_in_training_mode(run_of(evaluation(), steps=3))) == []
    assert list(inference_in_training_mode(run_of(evaluation(), source="net[1].train()\nnet(x)"))) == []
    assert list(inference_in_training_mode(run_of(evaluation(), evaluation(training=False, awake=())))) == []
