"""This file tests the rule on models that see what they are to predict, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.structure import ForesightRecord
from torchmagic.rules.model.missing_causal_mask import MASK, MIN_CHANGE, missing_causal_mask
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=5, source="h = self.encoder(x)")


def found(**changed):
    facts = {
        "model": "net",
        "class_name": "TransformerEncoderLayer",
        "step": 1,
        "place_changed": 15,
        "num_earlier": 15,
        "num_changed": 15,
        "change": 0.2,
        "place": LINE,
    }
    run = Run()
    run.records.append(ForesightRecord(**{**facts, **changed}))
    return list(missing_causal_mask(run))


def test_earlier_places_that_change_are_told_at_the_line_that_lets_them():
    (finding,) = found()
    assert (finding.severity, finding.module, finding.line) == (Severity.WARNING, "net", 5)
    assert finding.evidence["earlier places that changed"] == "15 of 15"


def test_none_that_changes_and_what_may_be_rounding_are_silent():
    assert MIN_CHANGE == 1e-3
    assert found(num_changed=0) == []
    assert found(change=9e-4) == []
    assert len(found(change=1e-3)) == 1


@pytest.mark.parametrize(
    ("class_name", "fix"),
    [
        ("LSTM", "bidirectional=False"),
        ("Conv1d", "padding=0, and F.pad(x, (kernel_size - 1, 0)) before it"),
        ("MultiheadAttention", MASK),
        ("Head", "is_causal=True, or a mask of -inf"),
    ],
)
def test_the_fix_is_that_of_the_layer(class_name, fix):
    assert found(class_name=class_name)[0].fix == fix
