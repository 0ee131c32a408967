"""This file counts the floating point operations of an operator from its inputs' shapes, two for a multiply and add.

The formulas are those of ``torch.utils.flop_counter``, written for what the profiler notes down: inputs, no results.
Operators that work value by value count nothing there and here. Of a convolution in groups torch counts the gradient of
the weight as if it had none; here it is exact.
"""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

from torchmagic.profiling.collected import Event

# They do the work of an operator with a formula that they are called by, and show what it did.
CARRIERS = frozenset(
    "aten::" + name
    for name in (
        "mkldnn_convolution", "cudnn_convolution", "cudnn_convolution_transpose", "miopen_convolution",
        "miopen_convolution_transpose", "miopen_depthwise_convolution", "_slow_conv2d_forward", "slow_conv3d_forward",
        "slow_conv_dilated2d", "slow_conv_dilated3d", "slow_conv_transpose2d", "slow_conv_transpose3d",
        "_conv_depthwise2d", "conv_depthwise3d", "_nnpack_spatial_convolution", "mps_convolution",
        "_flash_attention_forward", "_flash_attention_backward", "_efficient_attention_forward",
        "_efficient_attention_backward", "_cudnn_attention_forward", "_cudnn_attention_backward",
    )
)  # fmt: skip
# They compute much, and what they compute does not follow from the shapes that are noted down.
_HEAVY = re.compile(
    r"aten::(_?linalg_\w+|_?fft_\w+|cholesky\w*|_cholesky\w*|lu_\w+|_lu_\w+|triangular_solve|_?cdist\w*|_cudnn_rnn\w*"
    r"|miopen_rnn\w*|\w*grouped_mm|_sparse_\w*mm\w*|_weight_int\w+|_transformer_encoder_layer_fwd|_nested_\w*attention\w*)"
    r"|(quantized|onednn|mkldnn|torchvision|inductor)::\w+|CompiledFunction(Backward)?"
)
# Libraries of operators that either are torch's own or compute nothing.
_KNOWN_LIBRARIES = frozenset({"aten", "autograd", "torch", "prim", "prims", "profiler", "c10d", "record_param_comms"})


def operations(event: Event) -> int | None:
    """Return the operations of one call; None for operators without a formula, and for inputs that it does not fit."""
    formula = FORMULAS.get(event.name)
    if formula is None or event.shapes is None:
        return None
    try:
        return formula(event.shapes, event.concrete or [])
    except (IndexError, TypeError, ValueError):
        return None


def is_heavy(name: str) -> bool:
    """Return whether an operator without a count is one that computes much, or one that nobody here knows."""
    library, separator, _ = name.partition("::")
    unknown = bool(separator) and library not in _KNOWN_LIBRARIES
    return unknown or name in CARRIERS or _HEAVY.fullmatch(name) is not None


Shapes = Sequence[Any]


def _matrices(first: int) -> Callable[[Shapes, Shapes], int]:
    """Return the formula for a product of two inputs next to each other: matrices, or stacks of them."""

    def count(shapes: Shapes, _concrete: Shapes) -> int:
        left, right = shapes[first], shapes[first + 1]
        return 2 * int(prod(left)) * int(right[-1])

    return count


def _vector(first: int) -> Callable[[Shapes, Shapes], int]:
    """Return the formula for a product with a vector: each value of the input counts once."""
    return lambda shapes, _concrete: 2 * int(prod(shapes[first]))


def _convolution(shapes: Shapes, concrete: Shapes) -> int:
    rows, weight = shapes[0], shapes[1]
    stride, padding, dilation, transposed = concrete[3:7]
    points = rows[2:] if transposed else _sides(rows[2:], weight[2:], stride, padding, dilation)
    return 2 * int(rows[0]) * prod(points) * int(prod(weight))


def _convolution_backward(shapes: Shapes, concrete: Shapes) -> int:
    gradient, rows, weight = shapes[:3]
    points = rows[2:] if concrete[7] else gradient[2:]
    wanted = int(bool(concrete[10][0])) + int(bool(concrete[10][1]))
    return wanted * 2 * int(rows[0]) * int(prod(points)) * int(prod(weight))


def _sides(sides: Shapes, kernel: Shapes, stride: Shapes, padding: Shapes, dilation: Shapes) -> list[int]:
    """Return the sides of a convolution's result; a setting of one number holds for all."""
    settings = (list(each) * (len(sides) if len(each) == 1 else 1) for each in (stride, padding, dilation))
    both = zip_longest(sides, kernel, *settings)
    return [(side + 2 * pad - gap * (size - 1) - 1) // step + 1 for side, size, step, pad, gap in both]


def _attention(shapes: Shapes, _concrete: Shapes) -> int:
    scores, size, values = _attended(shapes[:3])
    return 2 * scores * (size + values)


def _attention_backward(shapes: Shapes, _concrete: Shapes) -> int:
    # the scores once more, then gradients: of the scores and the values, of the queries and the keys
    scores, size, values = _attended(shapes[1:4])
    return 2 * scores * (3 * size + 2 * values)


def _attended(shapes: Shapes) -> tuple[int, int, int]:
    """Return how many scores there are, and the length of a query and of a value; a mask leaves all of them."""
    (batch, heads, queries, size), key, value = shapes
    return batch * heads * queries * key[-2], size, value[-1]


def _recurrent(times: int) -> Callable[[Shapes, Shapes], int]:
    """Return the formula for a layer that goes through a sequence: its matrices, at each moment of each row."""

    def count(shapes: Shapes, _concrete: Shapes) -> int:
        matrices = sum(int(prod(shape)) for shape in shapes[1:5] if len(shape) > 1)
        return times * 2 * matrices * int(prod(shapes[0][:-1]))

    return count


def _linear(shapes: Shapes, _concrete: Shapes) -> int:
    return 2 * int(prod(shapes[0])) * int(shapes[1][0])


_ATTENTION = ("flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention")
FORMULAS: dict[str, Callable[[Shapes, Shapes], int]] = {
    **dict.fromkeys(("aten::mm", "aten::bmm", "aten::_int_mm", "aten::_scaled_mm"), _matrices(0)),
    **dict.fromkeys(("aten::addmm", "aten::baddbmm", "aten::addbmm", "aten::_addmm_activation"), _matrices(1)),
    **dict.fromkeys(("aten::mv", "aten::dot", "aten::vdot"), _vector(0)),
    "aten::addmv": _vector(1),
    **dict.fromkeys(("aten::mkldnn_linear", "mkldnn::_linear_pointwise"), _linear),
    **dict.fromkeys(("aten::convolution", "aten::_convolution", "aten::convolution_overrideable"), _convolution),
    "aten::convolution_backward": _convolution_backward,
    **{f"aten::_scaled_dot_product_{name}": _attention for name in (*_ATTENTION, "fused_attention_overrideable")},
    **{
        f"aten::_scaled_dot_product_{name}_backward": _attention_backward
        for name in (*_ATTENTION, "fused_attention_overrideable")
    },
    "aten::mkldnn_rnn_layer": _recurrent(1),
    "aten::mkldnn_rnn_layer_backward": _recurrent(2),
}  # fmt: skip
