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
    version = value._version if isinstance(value, torch.Tensor) and not value.is_inference() else None
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
