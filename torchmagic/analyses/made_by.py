"""This file tells which node of a graph a function, an operator or a layer makes."""

import re

# What makes a node that is called otherwise than itself.
_NODES = {
    "linear": ("addmm", "mm", "view", "unsafeview", "t"),
    "mult": ("mul",),
    "matmult": ("mm", "bmm", "addmm", "dot", "mv", "unsafeview", "view"),
    "matmul": ("mm", "bmm", "addmm", "dot", "mv", "unsafeview"),
    "usub": ("neg",),
    "conv1d": ("convolution", "squeeze"),
    "conv2d": ("convolution",),
    "conv3d": ("convolution",),
    "convtranspose2d": ("convolution",),
    "batchnorm1d": ("nativebatchnorm",),
    "batchnorm2d": ("nativebatchnorm",),
    "batchnorm3d": ("nativebatchnorm",),
    "layernorm": ("nativelayernorm",),
    "layer_norm": ("nativelayernorm",),
    "groupnorm": ("nativegroupnorm",),
    "maxpool2d": ("maxpool2dwithindices",),
    "max_pool2d": ("maxpool2dwithindices",),
    "dropout": ("mul", "nativedropout"),
    "leakyrelu": ("leakyrelu",),
    "norm": ("linalgvectornorm", "norm"),
    "zeros": ("copyslices",),
    "empty": ("copyslices",),
    "zeros_like": ("copyslices",),
    "empty_like": ("copyslices",),
    "clone": ("copyslices", "clone"),
    "flatten": ("view", "reshapealias"),
    "reshape": ("view", "reshapealias", "unsafeview"),
}
_SUFFIX = re.compile(r"Backward\d*$")


def makes(maker: str, node: str) -> bool:
    """Whether a function, operator or layer of this name makes a node of this name, such as ``SigmoidBackward0``."""
    bare = _SUFFIX.sub("", node).lower()
    name = maker.lower()
    return bool(name) and (bare in _NODES.get(name, ()) or bare == name.replace("_", ""))
