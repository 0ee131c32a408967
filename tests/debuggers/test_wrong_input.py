"""This file tests that what is of another kind than wanted is refused in one line, where settings are not concerned."""

import pytest
import torch

import torchmagic


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: torchmagic.tensorinfo(torch.ones(2), names=5), r"names are variables by name, .*; int came"),
        (lambda: torchmagic.gather("run"), "gather wants the run that .* gives, str came"),
    ],
)
def test_what_is_of_another_kind_is_refused_in_one_line(call, said):
    with pytest.raises(TypeError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)
