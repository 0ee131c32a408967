"""This file words the shapes and types of an operator's inputs as torch's users write them."""

from collections.abc import Sequence
from typing import Any

from torchmagic.profiling.collected import Event

# How the profiler names the types that torch names otherwise.
_DTYPES = {
    "float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16", "int": "int32",
    "long int": "int64", "long": "int64", "short int": "int16", "short": "int16", "signed char": "int8",
    "unsigned char": "uint8", "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2",
}  # fmt: skip
# What has a type in the profiler's eyes and is no tensor.
_NO_TENSORS = frozenset({"", "Scalar", "ScalarList", "GenericList"})
MOST_INPUTS = 6


def described(event: Event) -> tuple[str, str]:
    """Return the shapes of an operator's inputs, and the type of the first, such as ``int64``.

    Inputs that are no tensors, and lists of them, are left out; a tensor without sides is ``scalar``.
    """
    shapes, dtypes = event.shapes or (), event.dtypes or ()
    tensors = [(shape, name) for shape, name in zip(shapes, dtypes, strict=False) if name not in _NO_TENSORS]
    words = [_word(shape) for shape, name in tensors if name != "TensorList"]
    if len(words) > MOST_INPUTS:
        words[MOST_INPUTS:] = ["…"]
    first = next((name for _, name in tensors if name != "TensorList"), "")
    return ", ".join(words), _DTYPES.get(first, first)


def _word(shape: Sequence[Any]) -> str:
    return "×".join(map(str, shape)) or "scalar"
