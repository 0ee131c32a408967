"""What the other files leave open of: every mode that applies gives the same on every architecture."""

import pytest

from torchmagic.tuning.comparison import Result, compare
from torchmagic.tuning.modes import OptimizationMode

ALL = ["mlp", "cnn", "cnn without norm", "transformer", "rnn", "dropout", "transformer with dropout", "tied"]
# Traces and differentiates as the default backend does, and generates no code.
QUICK = {"compile_options": {"backend": "aot_eager"}}


def verdict(one, mode, **fields):
    found = compare(one.training, OptimizationMode(mode), one.plan(**fields))
    assert isinstance(found, Result), found
    return found.agreement.verdict


@pytest.mark.parametrize("name", ["transformer", "rnn", "cnn without norm", "transformer with dropout"])
def test_a_fused_optimizer_is_the_same(case, name):
    assert verdict(case(name), "fused_optimizer") == "same"


@pytest.mark.parametrize("name", ALL)
def test_less_memory_is_the_same_with_batch_norm_dropout_and_tied_weights(case, name):
    assert verdict(case(name), "memory_efficient") == "same"


@pytest.mark.parametrize("name", ["mlp", "cnn", "rnn"])
def test_a_compiled_model_is_the_same(case, compiler, name):
    assert verdict(case(name), "compilation", options=QUICK) == "same"


def test_all_at_once_is_the_same_within_rounding(case, compiler):
    assert verdict(case("cnn"), "full_optimization", options=QUICK) == "same within bf16 rounding"
