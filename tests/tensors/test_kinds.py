"""This file is every kind of tensor, looked at from end to end: a page comes out, and the tensor is as it was."""

import warnings

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.tensor import DTensor, init_device_mesh

from torchmagic.debuggers.tensorinfo import tensorinfo
from torchmagic.views.skins.html import as_html

DTYPES = [value for value in vars(torch).values() if isinstance(value, torch.dtype)]


# Of so many bits that a byte holds several, or of bits that stand for no numbers.
PACKED = [dtype for dtype in DTYPES if str(dtype).startswith(("torch.uint", "torch.int", "torch.bits", "torch.quint"))]


class Refusing(torch.Tensor):
    """A subclass whose operators raise."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("not with me")


class Tagged(torch.Tensor):
    """A subclass without operators of its own."""


def plain():
    return torch.randn(6, 8, generator=torch.Generator("cpu").manual_seed(0), device="cpu")


def quantised():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(plain(), 0.1, 3, torch.qint8)


def sparse_csr():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plain().relu().to_sparse_csr()


def narrowed():
    starts, lengths = torch.tensor([0, 1, 2], device="cpu"), torch.tensor([2, 3, 1], device="cpu")
    return torch.nested.narrow(plain().view(3, 4, 4), 1, starts, lengths, layout=torch.jagged)


def fake():
    with FakeTensorMode() as mode:
        return mode.from_tensor(plain())


KINDS = {
    "plain": plain,
    "parameter": lambda: torch.nn.Parameter(plain()),
    "subclass": lambda: plain().as_subclass(Tagged),
    "sparse coo": lambda: plain().relu().to_sparse(),
    "sparse csr": sparse_csr,
    "nested": lambda: torch.nested.nested_tensor([plain(), plain()[:2]], layout=torch.jagged),
    "nested in a larger block": narrowed,
    "refusing subclass": lambda: plain().as_subclass(Refusing),
    "meta": lambda: plain().to("meta"),
    "fake": fake,
    "zero-dim": lambda: plain().sum(),
    "empty": lambda: plain()[:0],
    "non-contiguous": lambda: plain().t()[::2],
    "expanded": lambda: plain()[:1].expand(1000, 8),
    "quantised": quantised,
    "conjugate": lambda: torch.complex(plain(), plain()).conj(),
    "negative view": lambda: torch.complex(plain(), plain()).conj().imag,
    "inference": torch.inference_mode()(plain),
    "numpy": lambda: plain().numpy(),
    "numpy backwards": lambda: plain().numpy()[::-1],
    "numpy number": lambda: np.float32(3),
    "tree": lambda: {"a": plain(), "b": [sparse_csr(), plain().to("meta")]},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page(kind):
    value = KINDS[kind]()
    counts = isinstance(value, torch.Tensor) and not isinstance(value, Refusing) and not value.is_inference()
    version = value._version if counts else None
    info = tensorinfo(value, name="x", full=True, names={"x": value})
    assert str(info).startswith("x: ")
    assert "x: " in as_html(info.page)
    if version is not None:
        assert value._version == version


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_has_a_page(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = torch.zeros(20, device="cpu").to(dtype)
        except (RuntimeError, NotImplementedError):
            value = torch.empty(20, dtype=dtype, device="meta")
        text = str(tensorinfo(value, name="x"))
    assert str(dtype).removeprefix("torch.") in text
    assert value.device.type == "meta" or "all " in text or "cannot be read" in text


@pytest.mark.parametrize("dtype", PACKED, ids=str)
def test_bits_that_torch_cannot_read_have_a_page_alone_and_among_others(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = torch.zeros(16, dtype=torch.uint8, device="cpu").view(dtype)
        text = str(tensorinfo(value, name="x"))
        among = tensorinfo([value, plain()]).record
    assert "all 0" in text or "its values cannot be read: " in text
    assert among.leaves[1].is_measured


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64], ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_many_unsigned_numbers_are_measured(dtype, full):
    value = torch.arange(40_000, device="cpu").to(dtype)
    found = tensorinfo(value, full=full).record.statistics
    assert (found.min, found.max, found.num_values, found.num_distinct) == (0, 39_999, 40_000, 40_000)
    assert found.median == pytest.approx(20_000, abs=1000)


def test_the_greatest_unsigned_numbers_are_in_the_sample():
    value = torch.full((20_000,), 2**16 - 1, device="cpu").to(torch.uint16)
    value[:100] = 0
    assert tensorinfo(value).record.statistics.median == 2**16 - 1


def test_a_nested_tensor_is_measured_without_what_lies_between_its_parts():
    value = narrowed()
    found = tensorinfo(value).record.statistics
    parts = torch.cat([each.reshape(-1) for each in value.unbind()])
    assert (found.num_values, found.min, found.max) == (value.numel(), parts.min().item(), parts.max().item())


@pytest.mark.parametrize("kind", [torch.nn.UninitializedParameter, torch.nn.parameter.UninitializedBuffer])
def test_what_was_not_made_yet_is_refused_in_one_line(kind):
    for asked in ({"value": kind()}, {"value": plain(), "compare": kind()}):
        with pytest.raises(ValueError, match=rf"{kind.__name__} has no shape .* yet; call its model") as refused:
            tensorinfo(**asked)
        assert "\n" not in str(refused.value)


def test_what_was_not_made_yet_is_left_out_among_others():
    lazy = torch.nn.LazyLinear(3)
    info = tensorinfo([lazy.weight, plain()], names={"lazy": lazy, "weight": lazy.weight})
    assert (info.record.num_tensors, info.record.notes) == (
        1,
        ("1 tensor is left out: made by the first call of a lazy module",),
    )
    assert "2 tensors are left out" in str(tensorinfo(lazy.state_dict()))
    assert str(tensorinfo(plain(), name="x", full=True, names={"lazy": lazy})).startswith("x: Tensor")


def test_a_tensor_is_looked_at_under_vmap():
    told = []
    torch.vmap(lambda row: told.append(tensorinfo(row).record) or row)(plain())
    assert told[0].shape == (8,)
    assert "cannot be read" in told[0].notes[0]


# Where a long double is no longer than a double, torch takes it.
WIDER = ["longdouble", "clongdouble"] if np.dtype("longdouble").itemsize > np.dtype("float64").itemsize else []


@pytest.mark.parametrize("dtype", ["datetime64[D]", *WIDER])
def test_a_numpy_number_that_torch_lacks_is_refused_in_one_line(dtype):
    array = np.ones(3, dtype=dtype)
    for value in (array, array[0]):
        with pytest.raises(
            TypeError, match=r"a NumPy array of dtype \S+ has no counterpart in torch; convert it first"
        ):
            tensorinfo(value)
    info = tensorinfo([array, plain()])
    assert info.record.notes == ("1 array is left out: of dtypes that torch does not have",)


def test_values_that_cannot_be_read_are_not_compared():
    value = torch.zeros(8, dtype=torch.uint8, device="cpu").view(torch.uint4)
    with pytest.raises(ValueError, match="values that cannot be read cannot be compared: "):
        tensorinfo(value, compare=value)


@pytest.mark.parametrize(
    ("value", "told"), [([], "nothing in it"), ([None], "its only item"), ([1, 2], "one of its 2")]
)
def test_a_list_without_a_tensor_is_refused_by_what_is_in_it(value, told):
    with pytest.raises(TypeError, match=told):
        tensorinfo(value)


def test_an_object_whose_data_cannot_be_asked_for_is_refused_as_any_other():
    class Odd:
        @property
        def data(self):
            raise ValueError("not now")

    with pytest.raises(TypeError, match="a NumPy array was wanted"):
        tensorinfo(Odd())
    assert tensorinfo([Odd(), plain()]).record.num_tensors == 1


def test_a_distributed_tensor_is_measured_on_this_rank(tmp_path):
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.FileStore(str(tmp_path / "s"), 1), rank=0, world_size=1
    )
    try:
        mesh = init_device_mesh("cpu", (1,))
        value = DTensor.from_local(plain(), mesh)
        text = str(tensorinfo(value, name="x"))
    finally:
        torch.distributed.destroy_process_group()
    assert "x: DTensor" in text
    assert "this rank's part" in text
    assert "mean" in text
