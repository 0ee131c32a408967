"""This file tests the rule on dropouts that end a model, on records written by hand."""

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.structure import DroppedOutputRecord
from torchmagic.rules.model.dropout_before_loss import MIN_LOSSES, dropout_before_loss
from torchmagic.session.run import Run


def found(count, *, loss="cross_entropy"):
    run = Run()
    place = Place(file="<cell>", line=7, source="loss = criterion(net(x), y)")
    facts = {"module": "net.3", "probability": 0.3, "loss": loss, "step": 0, "place": place}
    run.records.append(DroppedOutputRecord(count=count, **facts))
    return list(dropout_before_loss(run))


def test_a_dropout_whose_output_losses_are_given_is_told():
    (finding,) = found(8)
    assert (finding.severity, finding.module, finding.line) == (Severity.WARNING, "net.3", 7)
    assert finding.title == "cross_entropy is given an output of which net.3 drops 30%"


def test_three_losses_are_enough_and_two_are_not():
    assert MIN_LOSSES == 3
    assert len(found(3)) == 1
    assert found(2) == []


def test_what_compares_embeddings_with_each_other_may_have_it_on_purpose():
    assert found(8, loss="triplet_margin_loss") == []
    assert len(found(8, loss="mse_loss")) == 1
