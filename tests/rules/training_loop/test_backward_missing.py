"""This file tests the rule on steps without a backward, on records written by hand."""

from dataclasses import replace

from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.records.finding import Severity
from torchmagic.records.loop import Idle, IdleStepRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.backward_missing import backward_missing
from torchmagic.session.run import Run

STEP = Place(file="<cell>", line=8, source="opt.step()")


def idle(count, *, why=Idle.NO_BACKWARD, closure=False, computed=True):
    return IdleStepRecord(
        optimizer="opt",
        step=count,
        why=why,
        count=count,
        steps=9,
        closure=closure,
        computed=computed,
        place=STEP,
        reset=None,
    )


def found(*records, source="", **thresholds):
    run = Run(source=source)
    run.records += records
    return list(backward_missing(run, **thresholds))


def test_two_steps_without_a_backward_are_enough():
    (finding,) = found(idle(1), idle(2))
    assert (finding.severity, finding.optimizer, finding.line) == (Severity.ERROR, "opt", 8)
    assert finding.fix == "loss.backward()  # before opt.step()"


def test_a_closure_is_told_where_its_backward_belongs():
    assert "in the closure" in found(idle(1, closure=True), idle(2, closure=True))[0].fix


def test_one_such_step_is_silent_and_the_threshold_is_the_callers():
    assert found(idle(1)) == []
    assert len(found(idle(1), min_steps=1)) == 1


def test_gradients_that_were_reset_are_another_rules():
    assert found(idle(1, why=Idle.RESET), idle(2, why=Idle.RESET)) == []


LOOP = "".join(f"# {line}\n" for line in range(4)) + "for i in range(9):\n    opt.zero_grad()\n    {}\n    opt.step()\n"


def test_without_a_call_of_a_model_the_loop_must_name_a_loss():
    records = [idle(1, computed=False), idle(2, computed=False)]
    assert len(found(*records, source=LOOP.format("loss = ((x @ w - y) ** 2).mean()"))) == 1
    assert found(*records, source=LOOP.format("rates.append(opt.param_groups[0]['lr'])")) == []


def test_each_optimizer_is_counted_by_itself():
    other = [replace(idle(1), optimizer="other")]
    assert [finding.optimizer for finding in found(idle(1), idle(2), *other)] == ["opt"]


def test_without_a_call_and_without_a_line_it_is_silent():
    records = [replace(idle(number, computed=False), place=None) for number in (1, 2)]
    assert found(*records, source=LOOP.format("loss = ((x @ w - y) ** 2).mean()")) == []


def old(times, *, made_before=True, same=True):
    return [
        ReusedGradientsRecord(
            optimizer="opt",
            earlier="opt",
            same=same,
            step=number,
            parameters=("net.weight",),
            num_shared=2,
            num_pairs=number,
            place=STEP,
            earlier_place=STEP,
            made_before=made_before,
        )
        for number in range(1, times + 1)
    ]


def test_steps_again_and_again_on_gradients_from_before_the_run_are_told():
    (finding,) = found(*old(3))
    assert (finding.severity, finding.optimizer, finding.line, finding.step) == (Severity.ERROR, "opt", 8, 1)
    assert "left by earlier code" in finding.title
    assert finding.fix.startswith("opt.zero_grad(); loss.backward()  # before opt.step()")


def test_two_steps_again_are_silent_and_so_are_gradients_of_the_run_or_of_two_optimizers():
    assert found(*old(2)) == []
    assert found(*old(9, made_before=False)) == found(*old(9, same=False)) == []


def test_an_optimizer_is_told_once():
    assert len(found(idle(1), idle(2), *old(5))) == 1


def test_gradients_of_autograds_function_are_to_be_put_in_place():
    (finding,) = found(*(replace(idle(number), differentiated=True) for number in (1, 2)))
    assert "parameter.grad = gradient  # after torch.autograd.grad, before opt.step()" in finding.fix
    assert "torch.autograd.grad returns gradients" in finding.why


def test_a_loop_that_follows_such_gradients_by_itself_lacks_no_backward():
    assert found(idle(1), replace(idle(2), differentiated=True, applied=True)) == []
