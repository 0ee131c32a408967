"""This file tests the rule on training in evaluation mode, on records written by hand."""

from dataclasses import replace

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.protocol import EvalModeRecord, OwnTrain
from torchmagic.rules.modes.eval_mode_training import MIN_STEPS, eval_mode_training
from torchmagic.session.run import Run

FORWARD = Place(file="<cell>", line=12, source="out = net(x)")
SWITCHED = Place(file="<cell>", line=20, source="net.eval()")


def asleep(steps, *, model="net", switched=SWITCHED, modules=("net.1", "net.3"), first=0):
    return [
        EvalModeRecord(
            model=model,
            step=first + step,
            modules=modules,
            class_names=("BatchNorm1d", "Dropout")[: len(modules)],
            forward=FORWARD,
            switched=switched,
        )
        for step in range(steps)
    ]


def found(*records):
    run = Run()
    run.records += records
    return list(eval_mode_training(run))


def test_three_steps_are_enough_and_the_place_is_where_it_was_switched():
    assert MIN_STEPS == 3
    (finding,) = found(*asleep(3, first=7))
    assert (finding.severity, finding.module, finding.line) == (Severity.ERROR, "net.1", 20)
    assert finding.source == "net.eval()"
    assert finding.step == 7
    assert "BatchNorm1d, Dropout" in finding.title


def test_two_steps_are_silent():
    assert found(*asleep(2)) == []


def test_a_model_switched_in_an_earlier_cell_is_placed_at_its_forward():
    (finding,) = found(*asleep(3, switched=None))
    assert finding.line == 12


def test_models_are_counted_each_by_itself():
    assert found(*asleep(2), *asleep(2, model="critic", modules=("critic.1",))) == []
    (finding,) = found(*asleep(2), *asleep(3, model="critic", modules=("critic.1",)))
    assert finding.module == "critic.1"


TRAIN = Place(file="<cell>", line=3, source="def train(self, mode=True):", function="train")


def own(kind, **changed):
    return found(*(replace(each, own_train=kind, train=TRAIN, **changed) for each in asleep(3)))[0]


def test_a_train_that_is_no_switch_is_not_advised():
    assert own(OwnTrain.OTHER).fix.startswith("nn.Module.train(net)  # before the first batch")
    assert own(OwnTrain.SWITCH).fix.startswith("net.train()  #")


def test_a_train_that_forgets_the_parts_is_what_to_mend():
    finding = own(OwnTrain.ALONE)
    assert (finding.line, finding.source) == (3, TRAIN.source)
    assert finding.fix.startswith("return super().train(mode)")


def test_a_flag_that_nobody_was_seen_to_set_is_not_put_down_to_earlier_code_where_train_is_no_switch():
    assert "Code before" in found(*asleep(3, switched=None))[0].why
    assert "Code before" not in own(OwnTrain.OTHER, switched=None).why
