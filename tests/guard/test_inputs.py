"""What may be let into a model, and every reason why something may not, in one line."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.guard.extent import extent_of
from torchmagic.guard.input_spec import InputSpec
from torchmagic.guard.inputs import validate_model_input


class Pair(NamedTuple):
    left: Any
    right: Any


def refusal(data, **wanted):
    with pytest.raises(ValueError, match="Input") as caught:
        validate_model_input(data, **wanted)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_settings_it_asks_what_the_document_asks():
    assert validate_model_input(torch.randn(4, 8)) is True
    assert validate_model_input(torch.full((2, 2), -1000.0)) is True
    assert refusal(torch.tensor([[1.0, math.nan]])).startswith("Input contains NaN or infinite values")
    assert refusal(torch.tensor([[1.0, -math.inf]])).startswith("Input contains NaN or infinite values")
    assert refusal(torch.tensor([[1.0, -1000.5]])).startswith("Input values too large")
    assert refusal(torch.ones(3)).startswith("Input must be 2-dimensional")


def test_every_failure_is_named_in_one_line():
    data = torch.full((2, 3, 4), 5000.0)
    data[1, 2, 0] = math.nan
    data[1, 2, 3] = -math.inf
    assert refusal(data, dtype=(torch.float64, torch.int64), device="cuda:1") == (
        "Input must be float64 or int64 (float32 came); Input must be on cuda:1 (it is on cpu); "
        "Input must be 2-dimensional (2×3×4 came); "
        "Input contains NaN or infinite values (1 NaN, 1 infinite, the first at [1, 2, 0]); "
        "Input values too large (the largest magnitude is 5000, at most 1000 was wanted)"
    )


@pytest.mark.parametrize(
    ("shape", "good", "bad", "said"),
    [
        ((None, 3), (5, 3), (5, 4), "Input must be of shape any×3 (5×4 came)"),
        ((-1, -1), (5, 3), (5, 4, 1), "Input must be 2-dimensional (5×4×1 came)"),
        (
            ("batch", "width", "width"),
            (2, 7, 7),
            (2, 7, 8),
            "of shape batch×width×width (2×7×8 came; width is 7 in Input)",
        ),
        ((..., 3), (2, 5, 6, 3), (3, 2), "Input must be of shape ...×3 (3×2 came)"),
        ((2, ..., 3), (2, 3), (2,), "Input must be of shape 2×...×3 (2 came)"),
        ((), (), (1,), "Input must be of shape scalar (1 came)"),
        (None, (1, 2, 3, 4), None, ""),
    ],
)
def test_shapes(shape, good, bad, said):
    assert validate_model_input(torch.zeros(good), shape=shape) is True
    if bad is not None:
        assert said in refusal(torch.zeros(bad), shape=shape)


@pytest.mark.parametrize(
    ("wanted", "value", "said"),
    [
        ({"minimum": 0, "maximum": 1}, 1.5, "Input values too large (up to 1.5, at most 1 was wanted)"),
        ({"minimum": 0, "maximum": 1}, -0.5, "Input values too small (down to -0.5, at least 0 was wanted)"),
        ({"minimum": 0, "maximum": None}, -1, "too small"),
        ({"maximum": 3.0, "minimum": None}, 4, "too large"),
        ({"finite": False}, math.inf, "Input values too large (the largest magnitude is inf"),
        ({"finite": False, "minimum": 0, "maximum": None}, -math.inf, "down to -inf"),
    ],
)
def test_ranges(wanted, value, said):
    assert said in refusal(torch.tensor([[0.5, value]]), **wanted)
    assert validate_model_input(torch.tensor([[0.5, 0.25]]), **wanted) is True


def test_what_is_not_asked_is_not_checked():
    wild = torch.tensor([math.nan, math.inf, -1e30])
    assert validate_model_input(wild, shape=None, minimum=None, maximum=None, finite=False) is True
    assert validate_model_input(torch.tensor([[math.nan, 5.0]]), finite=False) is True


def test_an_empty_tensor_is_let_in_only_where_that_is_said():
    assert "Input is empty (its shape is 0×4)" in refusal(torch.zeros(0, 4))
    assert validate_model_input(torch.zeros(0, 4), empty=True) is True


def test_a_nested_batch_is_checked_part_by_part():
    batch = {
        "image": Pair(torch.zeros(2, 2), torch.full((2, 2), math.nan)),
        "text": "hello",
        "more": [np.ones((1, 1, 1))],
    }
    assert refusal(batch) == (
        "Input image.right contains NaN or infinite values (4 NaN, 0 infinite, the first at [0, 0]); "
        "Input more.0 must be 2-dimensional (1×1×1 came)"
    )


def test_a_batch_may_have_a_spec_for_each_part():
    spec = {
        "image": InputSpec(dtype=torch.float32, shape=("batch", 3, None, None), minimum=0, maximum=1),
        "label": InputSpec(dtype=torch.int64, shape=("batch",), minimum=0, maximum=9),
    }
    good = {"image": torch.rand(4, 3, 8, 8), "label": torch.arange(4), "name": ["a"] * 4}
    assert validate_model_input(good, spec=spec) is True
    bad = {"image": torch.rand(4, 3, 8, 8) + 1, "label": torch.tensor([0, 1, 10])}
    said = refusal(bad, spec=spec)
    assert "Input image values too large" in said
    assert "Input label must be of shape batch (3 came; batch is 4 in Input image)" in said
    assert "Input label values too large (up to 10, at most 9 was wanted)" in said
    assert "Input has no label (image came)" in refusal({"image": good["image"]}, spec=spec)
    assert validate_model_input((good["image"], good["label"]), spec=(spec["image"], None)) is True


def test_many_failures_are_cut():
    said = refusal([torch.zeros(1)] * 50)
    assert said.count("must be 2-dimensional") == 20
    assert said.endswith("; 30 more")


@pytest.mark.parametrize("data", ["text", None, [], {"a": 1}])
def test_what_holds_no_tensor_is_a_wrong_type(data):
    with pytest.raises(TypeError, match="a tensor, or a dict, tuple or list that holds some, was wanted"):
        validate_model_input(data)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"minimum": 2, "maximum": 1}, "minimum is at most maximum, 2 and 1 came"),
        ({"minimum": "0"}, "minimum is a number or None"),
        ({"maximum": math.nan}, "maximum is a number or None"),
        ({"shape": "ab"}, "one entry a dimension"),
        ({"shape": (1.5,)}, "1.5 came in it"),
        ({"shape": (..., 1, ...)}, "at most one"),
        ({"dtype": "float32"}, "dtype is a torch.dtype"),
    ],
)
def test_a_wrong_spec_is_one_line(setting, said):
    with pytest.raises(ValueError, match=said) as caught:
        InputSpec(**setting)
    assert "\n" not in str(caught.value)


KINDS = {
    "half": lambda: torch.tensor([[1.0, math.nan]], dtype=torch.float16),
    "bfloat16": lambda: torch.tensor([[1.0, math.nan]], dtype=torch.bfloat16),
    "float8": lambda: torch.tensor([[1.0, math.nan]]).to(torch.float8_e4m3fn),
    "complex": lambda: torch.tensor([[1.0, complex(0, math.nan)]]),
    "sparse": lambda: torch.tensor([[1.0, math.nan]]).to_sparse(),
    "expanded": lambda: torch.tensor([[math.nan]]).expand(1, 5),
    "not contiguous": lambda: torch.tensor([[1.0, 2.0], [math.nan, 3.0]]).t(),
    "with a graph": lambda: torch.tensor([[1.0, math.nan]], requires_grad=True) * 2,
    "parameter": lambda: torch.nn.Parameter(torch.tensor([[math.nan, 0]])),
}


@pytest.mark.parametrize("kind", KINDS)
def test_nan_is_seen_in_every_kind_of_tensor(kind):
    assert "contains NaN" in refusal(KINDS[kind](), shape=None)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(2, 2, dtype=torch.bool),
        torch.ones(2, 2, dtype=torch.uint8),
        torch.ones(2, 2, dtype=torch.int64),
        torch.empty(2, 2, device="meta"),
    ],
)
def test_what_cannot_be_bad_is_good(tensor):
    assert validate_model_input(tensor) is True


def test_nothing_is_changed_by_a_look():
    data = torch.randn(100, 100, requires_grad=True)
    before, version = data.detach().clone(), data._version
    state = torch.get_rng_state()
    validate_model_input(data)
    assert torch.equal(data, before)
    assert (data._version, data.grad) == (version, None)
    assert torch.equal(torch.get_rng_state(), state)


class Counting(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.read = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        views = func.is_view or func._schema.name in ("aten::detach", "aten::item", "aten::_local_scalar_dense")
        if not views:
            self.read += sum(each.numel() for each in args if isinstance(each, torch.Tensor))
        return func(*args, **(kwargs or {}))


def test_good_values_are_read_once():
    data = torch.randn(300, 400)
    with Counting() as counting:
        validate_model_input(data)
    assert counting.read == data.numel()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), min_size=1, max_size=40),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_the_extent_is_what_torch_says(values, dtype):
    tensor = torch.tensor(values, dtype=dtype)
    found = extent_of(tensor)
    assert found.num_nan == int(tensor.isnan().sum())
    assert found.num_posinf == int(tensor.isposinf().sum())
    assert found.num_neginf == int(tensor.isneginf().sum())
    finite = tensor[tensor.isfinite()]
    if len(finite):
        assert (found.low, found.high) == (finite.min().item(), finite.max().item())
    bad = (~tensor.isfinite()).nonzero()
    assert found.at == (tuple(bad[0].tolist()) if len(bad) else None)
