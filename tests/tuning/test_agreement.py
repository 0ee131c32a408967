"""When two ways agree, and how far apart they are."""

import math

import pytest
import torch

from torchmagic.tuning.agreement import Seen, agreement


def seen(outputs=(1.0, 2.0), gradient=(0.5, -4.0), losses=(1.0, 0.5), name="weight"):
    return Seen(outputs=(torch.tensor(outputs),), gradients={name: torch.tensor(gradient)}, losses=tuple(losses))


def judged(other, *, lower=None, dtype=torch.float32):
    return agreement(seen(), other, dtype=dtype, lower=lower)


def test_equal_bits_are_the_same_and_differ_by_nothing():
    found = judged(seen())
    assert found.verdict == "same"
    assert [each.largest for each in (found.outputs, found.gradients, found.losses)] == [0, 0, 0]


def test_last_bits_are_the_same():
    found = judged(seen(outputs=(1.0 + 1e-6, 2.0)))
    assert found.verdict == "same"
    assert found.outputs.largest == pytest.approx(1e-6, rel=0.1)


@pytest.mark.parametrize(
    ("lower", "verdict"),
    [
        (torch.bfloat16, "same within bf16 rounding"),
        (torch.float16, "differs"),
        (None, "differs"),
    ],
)
def test_a_coarser_rounding_is_allowed_where_it_is_in_use(lower, verdict):
    assert judged(seen(outputs=(1.0, 2.06)), lower=lower).verdict == verdict


@pytest.mark.parametrize(
    "other",
    [
        seen(gradient=(1.0, -8.0)),
        seen(gradient=(0.5, 4.0)),
        seen(losses=(1.0, 0.7)),
        seen(outputs=(math.nan, 2.0)),
        seen(gradient=(0.5, math.inf)),
        seen(losses=(1.0, math.nan)),
        seen(name="bias"),
        seen(outputs=(1.0, 2.0, 3.0)),
    ],
    ids=["twice", "sign", "curve", "nan", "inf", "nan loss", "another gradient", "another shape"],
)
def test_a_mistake_is_no_rounding(other):
    assert judged(other, lower=torch.bfloat16).verdict == "differs"


def test_nan_on_both_sides_is_the_same():
    one = seen(outputs=(math.nan, 2.0), losses=(math.nan, 1.0))
    assert agreement(one, one, dtype=torch.float32).verdict == "same"


def test_it_says_where_the_largest_difference_is():
    found = judged(seen(gradient=(0.5, -3.0), losses=(1.0, 0.75)))
    assert (found.gradients.place, found.gradients.largest) == ("weight", 1.0)
    assert found.gradients.relative == pytest.approx(1 / math.hypot(0.5, 4))
    assert (found.losses.place, found.losses.largest) == ("step 2", 0.25)


def test_a_gradient_that_is_all_rounding_is_measured_by_the_largest():
    one = Seen(outputs=(), gradients={"a": torch.tensor([1.0]), "b": torch.tensor([1e-9])}, losses=())
    other = Seen(outputs=(), gradients={"a": torch.tensor([1.0]), "b": torch.tensor([-2e-9])}, losses=())
    assert agreement(one, other, dtype=torch.float32).verdict == "same"


@pytest.mark.parametrize("factor", [2.0, 0.5, -1.0, 0.0])
def test_a_wrong_factor_at_one_small_parameter_is_no_rounding(factor):
    large, small = torch.full((1000,), 1.0), torch.full((10,), 0.3)
    one = Seen(outputs=(), gradients={"large": large, "small": small}, losses=())
    other = Seen(outputs=(), gradients={"large": large, "small": small * factor}, losses=())
    found = agreement(one, other, dtype=torch.float32, lower=torch.bfloat16)
    assert (found.verdict, found.gradients.place) == ("differs", "small")


def test_one_activation_that_flips_is_rounding_where_precision_is_low():
    torch.manual_seed(0)
    gradient = torch.randn(32)
    flipped = gradient.clone()
    flipped[gradient.abs().argmin()] += 0.4
    one = Seen(outputs=(), gradients={"a": gradient}, losses=())
    other = Seen(outputs=(), gradients={"a": flipped}, losses=())
    assert agreement(one, other, dtype=torch.float32, lower=torch.bfloat16).verdict == "same within bf16 rounding"
    assert agreement(one, other, dtype=torch.float32).verdict == "differs"


def test_tf32_is_rounding_where_torch_may_use_it():
    torch.manual_seed(0)
    one, other = torch.randn(64, 64), torch.randn(64, 64)
    exact, rounded = one @ other, (one.half().float() @ other.half().float())  # float16 has as many bits
    told = [Seen(outputs=(each,), gradients={}, losses=()) for each in (exact, rounded)]
    assert agreement(*told, dtype=torch.float32).verdict == "differs"
    assert agreement(*told, dtype=torch.float32, tf32=True).verdict == "same within tf32 rounding"
    told[1] = Seen(outputs=(1.1 * exact,), gradients={}, losses=())
    assert agreement(*told, dtype=torch.float32, tf32=True).verdict == "differs"


def test_doubles_are_judged_as_doubles():
    assert judged(seen(outputs=(1.0 + 1e-6, 2.0)), dtype=torch.float64).verdict == "differs"
