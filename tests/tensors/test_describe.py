"""This file is the proof that describing a tensor works for every kind of tensor and leaves no trace."""

import gc
import math
import random
import weakref

import numpy as np
import pytest
import torch

from torchmagic.tensors import describe as describing
from torchmagic.tensors.describe import describe


def state():
    numpy_state = np.random.get_state()  # noqa: NPY002 - the global stream is what must not move
    return torch.get_rng_state().tolist(), numpy_state[1].tolist(), numpy_state[2], random.getstate()


@pytest.mark.parametrize("size", [5, 70_000])
def test_nothing_is_changed(size):
    weight = torch.nn.Parameter(torch.randn(size, device="cpu"))
    (weight**2).sum().backward()
    values, gradient = weight.detach().clone(), weight.grad.clone()
    before, grad_object = state(), weight.grad
    versions = weight._version, weight.grad._version
    describe(weight)
    assert state() == before
    assert (weight._version, weight.grad._version) == versions
    assert weight.grad is grad_object
    assert torch.equal(weight, values)
    assert torch.equal(weight.grad, gradient)
    assert torch.is_grad_enabled()


def test_float64_pieces_are_not_worked_on_in_place():
    values = torch.arange(9.0, dtype=torch.float64, device="cpu") * 1e300
    before = values.clone()
    describe(values)
    assert torch.equal(values, before)
    assert values._version == 0


def test_nothing_is_held():
    values = torch.randn(40, 50, device="cpu")
    storage = weakref.ref(values.untyped_storage())
    gone = weakref.ref(values)
    gc.disable()
    try:
        record = describe(values)
        del values
        assert gone() is None
        assert storage() is None
    finally:
        gc.enable()
    assert record.shape == (40, 50)


def test_a_parameter_tells_its_part_in_autograd():
    weight = torch.nn.Parameter(torch.ones(2, 3, device="cpu"))
    (3 * weight).sum().backward()
    record = describe(weight, name="w")
    assert (record.name, record.kind, record.requires_grad, record.is_leaf) == ("w", "Parameter", True, True)
    assert record.gradient.norm == pytest.approx(3 * math.sqrt(6))
    assert (record.gradient.shape, record.gradient.num_nonfinite) == ((2, 3), 0)


def test_a_result_names_the_operation_that_made_it():
    made = torch.ones(2, requires_grad=True, device="cpu") * 2
    record = describe(made)
    assert (record.grad_fn, record.is_leaf, record.gradient) == ("MulBackward0", False, None)


def test_a_broken_gradient_is_counted():
    weight = torch.ones(3, requires_grad=True, device="cpu")
    weight.grad = torch.tensor([math.nan, 1.0, math.inf], device="cpu")
    assert describe(weight).gradient.num_nonfinite == 2


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_the_norm_of_a_sparse_gradient_is_that_of_its_sums():
    table = torch.nn.Embedding(3, 1, sparse=True, device="cpu")
    table(torch.tensor([1, 1], device="cpu")).sum().backward()
    record = describe(table.weight)
    assert (record.gradient.norm, record.gradient.shape) == (2.0, (3, 1))
    assert not table.weight.grad.is_coalesced()


def test_a_view_tells_its_place_in_memory():
    block = torch.zeros(10, 4, device="cpu")
    block[1].add_(1)
    record = describe(block[2:, 1:3])
    assert (record.strides, record.storage_offset, record.num_bytes, record.storage_bytes) == ((4, 1), 9, 64, 160)
    assert (record.is_view, record.contiguous, record.memory_format) == (True, False, "non-contiguous")
    assert record.version == 1


def test_memory_formats_are_named():
    image = torch.zeros(2, 3, 4, 5, device="cpu")
    assert describe(image).memory_format == "contiguous"
    assert describe(image.to(memory_format=torch.channels_last)).memory_format == "channels_last"


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16, torch.float16])
def test_narrow_floats_are_measured(dtype):
    record = describe(torch.tensor([[0.5, -2.0], [0.0, 1.0]], device="cpu").to(dtype))
    assert (record.statistics.min, record.statistics.max, record.statistics.num_zero) == (-2.0, 1.0, 1)
    assert record.values.startswith("[[")


def test_a_single_value_and_no_value_are_described():
    assert describe(torch.tensor(2.5, device="cpu")).values == "2.5000"
    assert describe(torch.tensor(2.5, device="cpu")).statistics.std is None
    empty = describe(torch.zeros(0, 3, device="cpu"))
    assert (empty.statistics.num_values, empty.statistics.mean, empty.values) == (0, None, "[]")
    assert describe(torch.tensor(True, device="cpu")).values == "True"
    assert describe(torch.tensor(1 + 2j, device="cpu")).values == "1.+2.j"


def test_an_expanded_tensor_is_looked_at_once():
    record = describe(torch.tensor([1.0, 2.0], device="cpu").expand(10**9, 2))
    assert record.statistics.num_values == 2 * 10**9
    assert record.statistics.mean == 1.5
    assert record.notes == ("expanded: each stored value stands for 1,000,000,000 elements",)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors_tell_what_they_store():
    dense = torch.eye(4, device="cpu")
    for sparse in (dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()):
        record = describe(sparse)
        assert (record.shape, record.statistics.num_values, record.statistics.mean) == ((4, 4), 4, 1.0)
        assert "4 stored values; 16 elements" in record.notes[0]
        assert record.num_bytes > 16
        assert record.storage_bytes is None


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_an_uncoalesced_tensor_stays_so():
    places = torch.tensor([[0, 0], [1, 1]], device="cpu")
    sparse = torch.sparse_coo_tensor(places, torch.tensor([1.0, math.nan], device="cpu"), (2, 2), device="cpu")
    record = describe(sparse)
    assert not sparse.is_coalesced()
    assert (record.statistics.num_values, record.statistics.num_nan) == (2, 1)
    assert record.statistics.nonfinite_at == ()
    assert any("not coalesced" in note for note in record.notes)


def test_meta_and_fake_tensors_have_no_values():
    fake_mode = torch._subclasses.fake_tensor.FakeTensorMode()
    with fake_mode:
        fake = torch.ones(3, 4)
    for hollow in (torch.ones(3, 4, device="meta"), fake):
        record = describe(hollow)
        assert (record.shape, record.num_bytes, record.statistics, record.values) == ((3, 4), 48, None, "")
        assert record.notes == ("a meta or fake tensor has no values",)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors_are_measured_over_their_parts(layout):
    parts = [torch.arange(3.0, device="cpu"), torch.arange(5.0, device="cpu")]
    record = describe(torch.nested.nested_tensor(parts, layout=layout, device="cpu"))
    assert (record.shape, record.statistics.num_values, record.statistics.max) == ((2, -1), 8, 4.0)


@pytest.mark.filterwarnings("ignore:.*quantize")
def test_quantised_tensors_are_measured_dequantised():
    record = describe(torch.quantize_per_tensor(torch.tensor([0.5, 1.0], device="cpu"), 0.5, 0, torch.quint8))
    assert (record.dtype, record.statistics.max, record.num_bytes) == ("quint8", 1.0, 2)
    assert "quantised" in record.notes[0]


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this build of torch has no mkldnn")
def test_an_opaque_layout_is_measured_as_a_dense_copy():
    record = describe(torch.ones(2, 3, device="cpu").to_mkldnn())
    assert (record.layout, record.statistics.mean, record.storage_bytes) == ("_mkldnn", 1.0, None)
    assert "dense copy" in record.notes[0]


def test_what_torch_cannot_read_is_said():
    packed = torch.zeros(4, dtype=torch.uint8, device="cpu").view(torch.float4_e2m1fn_x2)
    record = describe(packed)
    assert record.statistics is None
    assert "cannot be read" in record.notes[-1]
    wide = describe(packed[:1].expand(5))
    assert wide.statistics is None
    assert [note.partition(":")[0] for note in wide.notes] == ["expanded", "its values cannot be read"]


def test_tensors_of_inference_mode_have_no_version():
    with torch.inference_mode():
        inside = torch.ones(3, device="cpu")
        assert describe(inside).statistics.mean == 1.0
    assert describe(inside).version is None
    assert describe(inside).statistics.mean == 1.0


def test_a_subclass_with_operators_of_its_own_is_measured_in_torchs():
    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in (torch.aminmax, torch.Tensor.sum):
                raise AssertionError
            return super().__torch_function__(func, types, args, kwargs or {})

    record = describe(torch.ones(3, device="cpu").as_subclass(Loud))
    assert (record.kind, record.statistics.mean) == ("Loud", 1.0)


@pytest.mark.parametrize("flag", [True, False])
def test_numpy_arrays_share_memory_and_do_not_warn(flag, monkeypatch):
    seen = []
    original = describing.measure
    monkeypatch.setattr(describing, "measure", lambda values, **more: seen.append(values) or original(values, **more))
    array = np.arange(12.0).reshape(3, 4)
    array.flags.writeable = flag
    record = describe(array)
    assert (record.kind, record.dtype, record.shape, record.statistics.max) == ("ndarray", "float64", (3, 4), 11.0)
    assert seen[0].data_ptr() == array.ctypes.data
    assert array.flags.writeable is flag


def test_numpy_arrays_that_torch_refuses_are_copied_and_the_note_says_so():
    for array in (np.arange(4.0)[::-1], np.arange(4).astype(">i4")):
        record = describe(array)
        assert record.statistics.max == 3
        assert "copied" in record.notes[0]
    assert describe(np.float32(3)).shape == ()


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (3, "or a NumPy array was wanted, int came; pass torch.tensor(3) if this number was meant"),
        ([1, 2], "list came; pick one of its 2 items, or pass torch.as_tensor(...) of it"),
        (None, "NoneType came; pass torch.as_tensor(...) of it if it holds numbers"),
        (torch.nn.Linear(1, 1, device="cpu"), "Linear came; name one of its parameters, such as weight"),
        (torch.relu, "came; pass the tensor that it returns"),
        (np.array(["a"]), "a NumPy array of dtype <U1 has no counterpart in torch"),
        (np.array([None]), "a NumPy array of dtype object has no counterpart in torch"),
    ],
)
def test_anything_else_is_refused_in_one_line(value, line):
    with pytest.raises(TypeError) as refused:
        describe(value)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_users_defaults_change_nothing():
    values = torch.randn(300, 300, device="cpu")
    before = describe(values)
    old = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert describe(values) == before
    finally:
        torch.set_default_dtype(old)
        torch.set_default_device(None)
    torch.use_deterministic_algorithms(True)
    try:
        assert describe(values) == before
    finally:
        torch.use_deterministic_algorithms(False)


def test_many_values_show_their_corners_whatever_the_users_print_options():
    values = torch.zeros(200, 200, device="cpu")
    torch.set_printoptions(profile="full")
    try:
        text = describe(values).values
        assert torch._tensor_str.PRINT_OPTS.threshold == math.inf
    finally:
        torch.set_printoptions(profile="default")
    assert text.splitlines()[0] == "[[0., 0., 0.,  ..., 0., 0., 0.],"
    assert len(text.splitlines()) == 7


def test_long_previews_are_cut():
    lines = describe(torch.zeros(*(7,) * 5, device="cpu")).values.splitlines()
    assert len(lines) == 25
    assert "more lines" in lines[-1]
