"""This file tests the rule on modules made in a forward, on records written by hand."""

from torchmagic.records.connection import MadeInForwardRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.parameters.module_created_in_forward import MIN_CALLS, module_created_in_forward
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=7, source="return nn.Linear(4, 3)(h)", function="forward")


def found(num_calls):
    run = Run()
    run.records.append(MadeInForwardRecord(model="net", class_name="Linear", num_calls=num_calls, step=0, place=LINE))
    return list(module_created_in_forward(run))


def test_a_layer_made_in_three_forwards_is_told_at_its_line():
    assert MIN_CALLS == 3
    (finding,) = found(3)
    assert (finding.severity, finding.module) == (Severity.ERROR, "net")
    assert (finding.line, finding.source) == (7, LINE.source)


def test_a_layer_made_when_its_input_is_first_seen_is_silent():
    assert found(1) == []
    assert found(2) == []
