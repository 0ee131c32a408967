"""This file tests the rule on targets that learn, on records written by hand."""

from torchmagic.records.finding import Severity
from torchmagic.records.loss import LossInputRecord
from torchmagic.records.place import Place
from torchmagic.rules.loss.target_with_graph import MIN_BATCHES, target_with_graph
from torchmagic.session.run import Run

FIRST, SECOND = (Place(file="<cell>", line=line, source="loss = F.mse_loss(q, target)") for line in (3, 8))


def found(*places, bootstrapped=True):
    run = Run()
    for step, place in enumerate(places):
        run.records.append(LossInputRecord(step=step, loss="mse_loss", place=place, bootstrapped=bootstrapped))
    return list(target_with_graph(run))


def test_it_is_told_at_the_line_of_the_loss():
    (finding,) = found(FIRST, FIRST, FIRST, FIRST)
    assert (finding.severity, finding.line, finding.step) == (Severity.INFO, 3, 0)
    assert finding.evidence == {"batches seen": 4, "threshold": 3}


def test_two_batches_are_too_few_and_other_targets_are_silent():
    assert MIN_BATCHES == 3
    assert found(FIRST, FIRST) == []
    assert found(FIRST, FIRST, FIRST, bootstrapped=False) == []


def test_each_line_is_counted_by_itself():
    (finding,) = found(FIRST, SECOND, SECOND, FIRST, SECOND)
    assert finding.line == 8
