"""This file tests the rule on a frozen last layer, on records written by hand."""

from torchmagic.records.connection import FrozenOutputRecord
from torchmagic.records.finding import Severity
from torchmagic.rules.parameters.frozen_output_layer import MIN_STEPS, frozen_output_layer
from torchmagic.session.run import Run


def found(*, steps=8, untrained=True, num_training=4):
    run = Run()
    run.steps = steps
    run.records.append(
        FrozenOutputRecord(
            module="net.head",
            class_name="Linear",
            num_parameters=2,
            untrained=untrained,
            num_training=num_training,
            step=0,
            place=None,
        )
    )
    return list(frozen_output_layer(run))


def test_a_frozen_untrained_last_layer_is_told():
    (finding,) = found()
    assert (finding.severity, finding.module) == (Severity.WARNING, "net.head")
    assert finding.why.endswith("all that trains lies before it.")


def test_a_layer_that_was_trained_or_loaded_is_silent():
    assert found(untrained=False) == []


def test_where_nothing_of_the_model_trains_it_is_silent():
    assert found(num_training=0) == []


def test_three_steps_are_enough_and_two_are_not():
    assert MIN_STEPS == 3
    assert len(found(steps=3)) == 1
    assert found(steps=2) == []
