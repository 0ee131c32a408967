"""This file tests the rule on optimizers of another model, on records written by hand."""

from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Severity
from torchmagic.records.objective import GroupRecord
from torchmagic.records.place import Place
from torchmagic.rules.parameters.stale_optimizer import MIN_STEPS, stale_optimizer
from torchmagic.session.run import Run

STEP = Place(file="<cell>", line=9, source="opt.step()")


def flow(**changed):
    facts = {
        "optimizer": "opt",
        "steps": 6,
        "num_trainable": 4,
        "num_received": 0,
        "frozen": (),
        "num_frozen": 0,
        "groups": (),
        "twin": "net",
        "num_backwards": 6,
        "place": STEP,
    }
    return GradientFlowRecord(**{**facts, **changed})


def found(*records, source=""):
    run = Run(source=source)
    run.records += records
    return list(stale_optimizer(run))


def test_an_optimizer_without_any_gradient_beside_a_model_like_its_own_is_told():
    (finding,) = found(flow())
    assert (finding.severity, finding.optimizer, finding.module) == (Severity.ERROR, "opt", "net")
    assert (finding.line, finding.source) == (9, "opt.step()")


def test_the_place_is_the_last_line_of_the_cell_that_makes_the_model():
    (finding,) = found(flow(), source="net = Net()\nopt = Adam(net.parameters())\nnet = Net()\n")
    assert (finding.line, finding.source) == (3, "net = Net()")


def test_three_steps_are_enough_and_two_are_not():
    assert MIN_STEPS == 3
    assert len(found(flow(steps=3))) == 1
    assert found(flow(steps=2)) == []


def test_an_optimizer_that_had_one_gradient_is_silent():
    assert found(flow(num_received=1)) == []


def test_without_a_model_of_the_same_shapes_it_is_silent():
    assert found(flow(twin="")) == []


def test_an_optimizer_of_frozen_parameters_is_silent():
    assert found(flow(num_trainable=0)) == []


def test_gradients_that_came_no_more_while_another_model_had_its_own_are_told_from_then_on():
    (finding,) = found(flow(num_received=4, idle=3, idle_since=7))
    assert (finding.step, finding.evidence["steps in a row without a new gradient"]) == (7, 3)
    assert found(flow(num_received=4, idle=2, idle_since=7)) == []


def group(**changed):
    facts = {"optimizer": "opt", "class_name": "Adam", "subject": "opt", "parameters": ("opt[0]",), "num_elements": 4}
    settings = {"lr": 0.01, "weight_decay": 0.0, "decoupled": False, "maximize": False, "step": 0, "built": None}
    return GroupRecord(**{**facts, **settings, **changed})


def test_the_fix_builds_the_optimizer_for_the_model_that_is_trained():
    assert found(flow(), group())[0].fix == "opt = torch.optim.Adam(net.parameters(), lr=0.01)  # after net is made"


def test_the_fix_is_the_users_own_line_with_all_its_settings():
    line = "opt = Adam(old.parameters(), 0.01, weight_decay=0.1)"
    built = Place(file="<cell>", line=1, source=line)
    (finding,) = found(flow(), group(built=built), source=f"{line}\n")
    assert finding.fix == "opt = Adam(net.parameters(), 0.01, weight_decay=0.1)  # after net is made"


def test_the_fix_of_an_optimizer_with_several_groups_leaves_them_to_the_user():
    assert "torch.optim.…(net.parameters())" in found(flow(), group(), group(subject="opt[1]"))[0].fix


def test_a_tensor_that_was_assigned_anew_is_told_at_that_line_and_by_its_name():
    source = "image = make()\nopt = Adam([image])\nopt.step()\nimage = image.detach().requires_grad_()\n"
    (finding,) = found(flow(twin="image", twin_is_tensor=True, num_trainable=1), source=source)
    assert (finding.line, finding.parameter, finding.module) == (4, "image", None)
    assert finding.title == "opt holds the tensor that image was before, not the one that gets the gradients"
    assert "in place" in finding.fix
