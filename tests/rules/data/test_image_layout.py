"""This file tests the rule on images whose channels come last, on records written by hand."""

import pytest

from torchmagic.records.feeding import FirstLayerRecord
from torchmagic.records.finding import Severity
from torchmagic.rules.data.image_layout import image_layout
from torchmagic.session.run import Run


def found(shape, class_name="Conv2d"):
    run = Run()
    run.records.append(
        FirstLayerRecord(
            model="net",
            module="net.0",
            class_name=class_name,
            step=0,
            shape=shape,
            scale=1.0,
            spread=1.0,
            low=0.0,
            high=1.0,
            frozen=False,
            place=None,
        )
    )
    return [(each.severity, each.module) for each in image_layout(run)]


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_square_images_with_their_channels_last_are_a_warning(channels):
    assert found((16, 28, 28, channels)) == [(Severity.WARNING, "net.0")]


@pytest.mark.parametrize(
    "shape", [(16, 3, 28, 28), (16, 28, 20, 3), (16, 28, 28, 2), (16, 7, 7, 3), (16, 28, 28), (16, 3, 3, 3)]
)
def test_other_shapes_are_silent(shape):
    assert found(shape) == []


def test_other_layers_are_silent():
    assert found((16, 28, 28, 3), class_name="Linear") == []
