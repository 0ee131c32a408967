"""This file tests the rule on a loss that is connected to nothing, on records written by hand."""

from torchmagic.records.connection import DetachedLossRecord, MadeInForwardRecord, UnregisteredRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import ModelRecord, ParameterRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.detached_loss import MIN_BACKWARDS, detached_loss
from torchmagic.session.run import Run

CUT = Place(file="<cell>", line=4, source="loss = torch.tensor(loss.item())")
MADE = Place(file="<cell>", line=5, source="loss = criterion(out, y)")
BACKWARD = Place(file="<cell>", line=6, source="loss.backward()")
PARAMETER = {"module": "", "shape": (4, 5), "dtype": "float32", "device": "cpu"}


def detached(**changed):
    facts = {
        "loss": "loss",
        "backward": BACKWARD,
        "num_backwards": 5,
        "raised": False,
        "owned": 4,
        "connected": ("net",),
        "ran": ("net",),
        "cut": CUT,
        "how": "torch.tensor()",
        "made": MADE,
    }
    return DetachedLossRecord(**{**facts, **changed})


def found(*records, source="", steps=5):
    run = Run(source=source)
    run.steps = steps
    run.records += records
    return list(detached_loss(run))


def test_a_loss_that_reaches_nothing_is_told_at_the_line_that_cuts_it():
    (finding,) = found(detached())
    assert (finding.severity, finding.line, finding.source) == (Severity.ERROR, 4, CUT.source)
    assert finding.confidence > 0.9
    assert "torch.tensor()" in finding.title


def test_without_a_cut_the_place_is_the_line_that_makes_the_loss_and_else_the_backward():
    assert found(detached(cut=None, how=""))[0].line == 5
    assert found(detached(cut=None, how="", made=None))[0].line == 6


def test_one_backward_is_silent_unless_it_raised():
    assert MIN_BACKWARDS == 2
    assert found(detached(num_backwards=1)) == []
    assert len(found(detached(num_backwards=2))) == 1
    assert len(found(detached(num_backwards=0, raised=True), steps=0)) == 1


def test_backward_passes_without_any_step_are_an_inspection():
    assert found(detached(), steps=0) == []


def test_where_nothing_could_be_trained_it_is_silent():
    assert found(detached(owned=0)) == []


def test_gradients_that_are_switched_off_are_another_rules_matter():
    assert found(detached(connected=(), cut=CUT, how="no_grad", raised=True)) == []
    assert found(detached(connected=(), ran=(), cut=None, how="", raised=True), a_model()) == []


def test_a_model_whose_own_output_has_no_graph_needs_a_cut_to_be_told():
    assert found(detached(connected=(), cut=None, how=""), a_model()) == []
    (finding,) = found(detached(connected=(), how=".data"), a_model())
    assert finding.confidence < 0.9


def test_what_no_model_registers_is_another_rules_matter():
    stray = UnregisteredRecord(
        module="net",
        attribute="layers",
        container="list",
        class_name="Linear",
        num_parameters=2,
        owned=0,
        registered=0,
        changed=False,
        looks=1,
        place=None,
    )
    made = MadeInForwardRecord(model="net", class_name="Linear", num_calls=3, step=0, place=None)
    assert found(detached(), stray) == []
    assert found(detached(), made) == []


def test_a_number_that_has_no_backward_is_told_at_the_line_that_made_it_one():
    source = "out = net(x)\nloss = criterion(out, y).item()\nloss.backward()\n"
    crash = CrashRecord(
        error="AttributeError",
        message="'float' object has no attribute 'backward'",
        file="<cell>",
        line=3,
        source="loss.backward()",
    )
    (finding,) = found(crash, source=source, steps=0)
    assert (finding.line, finding.source) == (2, "loss = criterion(out, y).item()")
    (finding,) = found(crash, steps=0)
    assert (finding.line, finding.source) == (3, "loss.backward()")


def test_another_objects_missing_backward_is_silent():
    crash = CrashRecord(
        error="AttributeError", message="'Net' object has no attribute 'backward'", file="", line=1, source=""
    )
    assert found(crash, steps=0) == []


def a_model():
    return ModelRecord(name="net", class_name="Net", num_parameters=4, num_trainable=4, num_bytes=16)


def test_without_a_model_a_loss_of_the_optimizers_own_tensors_is_told_unless_it_raised():
    assert len(found(detached(connected=(), cut=None, how="", ran=()))) == 1
    assert found(detached(connected=(), cut=None, how="", ran=(), raised=True)) == []
    assert len(found(detached(connected=(), ran=(), raised=True))) == 1
    assert found(detached(connected=(), ran=(), raised=True), a_model()) == []


def test_layers_that_are_registered_elsewhere_or_never_reached_hide_nothing():
    facts = {
        "module": "net", "attribute": "layers", "container": "list", "class_name": "Linear", "num_parameters": 2,
        "owned": 0, "changed": False, "place": None,
    }  # fmt: skip
    assert len(found(detached(), UnregisteredRecord(registered=2, looks=1, **facts))) == 1
    assert len(found(detached(), UnregisteredRecord(registered=0, looks=0, **facts))) == 1


def test_a_number_beside_a_loss_that_is_cut_off_is_told_once():
    message = "'float' object has no attribute 'backward'"
    crash = CrashRecord(error="AttributeError", message=message, file="<cell>", line=3, source="loss.backward()")
    assert len(found(detached(), crash)) == 1


def model(name, trainable, parameters=2):
    own = [
        ParameterRecord(name=f"{name}.{i}", trainable=bool(trainable), **PARAMETER, model=name)
        for i in range(parameters)
    ]
    facts = {"class_name": "Linear", "num_parameters": 40, "num_bytes": 160}
    return [ModelRecord(name=name, num_trainable=trainable, **facts), *own]


def test_where_all_that_ran_is_frozen_the_last_line_that_freezes_is_told():
    source = (
        "body = make()\nbody.requires_grad_(False)\nhead.requires_grad_(False)\nloss = body(x).sum()\nloss.backward()\n"
    )
    record = detached(owned=0, raised=True, connected=(), ran=("body", "head"), cut=None, how="", num_backwards=0)
    (finding,) = found(record, *model("body", 0), *model("head", 0, 3), source=source, steps=0)
    assert (finding.line, finding.source, finding.module) == (3, "head.requires_grad_(False)", "head")
    assert finding.title == "loss reaches nothing that is trained: all 5 parameters of body, head are frozen"
    assert "head.requires_grad_(True)" in finding.fix


def test_an_optimizer_of_another_cell_is_no_reason_against_it_and_one_of_this_cell_is():
    facts = {"raised": True, "connected": (), "ran": ("body",), "cut": None, "how": "", "num_backwards": 0}
    record = detached(owned=3, beside=("prompts",), **facts)
    source = "loss = body(x).sum()\nloss.backward()\n"
    (finding,) = found(record, *model("body", 0), source=source, steps=0)
    assert "frozen" in finding.title
    assert found(record, *model("body", 0), source=source + "prompts.step()\n", steps=0) == []


def test_it_is_not_told_where_one_of_those_models_trains_or_nothing_raised():
    record = detached(owned=0, raised=True, connected=(), ran=("body", "head"), cut=None, how="", num_backwards=0)
    assert found(record, *model("body", 0), *model("head", 40), steps=0) == []
    calm = detached(owned=0, raised=False, connected=(), ran=("body",), cut=None, how="")
    assert found(calm, *model("body", 0)) == []
