"""This file tests the words for the scene of a crash."""

import pytest

from torchmagic.analyses.crash_words import attribute


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("model", "model"),
        ("model.fc", "self.fc"),
        ("model.encoder.fc", "self.fc"),
        ("model.3", "model[3]"),
        ("model.layers.0", "self.layers[0]"),
        ("model.layers.0.1", "self.layers[0][1]"),
        ("model.layers.0.fc", "self.fc"),
        ("", ""),
    ],
)
def test_a_module_is_called_as_code_calls_it(path, written):
    assert attribute(path) == written
