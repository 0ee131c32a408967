"""This file tells by what torch says what an exception complains about."""

import re

from torchmagic.analyses.misuses import is_misuse
from torchmagic.records.crash import CrashKind

# The first pattern that is found decides; what is special stands before what is general. Torch's words have changed
# over the years: older spellings stay, and what they have in common is left out.
_PHRASES: dict[CrashKind, tuple[str, ...]] = {
    CrashKind.MEMORY: (
        r"out of memory",
        r"can't allocate memory",
        r"not enough memory: you tried to allocate",
        r"Unable to allocate [\d.]+ \w*B",
    ),
    CrashKind.ASSERT: (r"device-side assert",),
    CrashKind.SINGLE: (r"Expected more than 1 value per channel when training",),
    # clip_grad_value_ groups the gradients it finds; torch says only that its own list is empty.
    CrashKind.NO_GRADIENTS: (r"nested_tensorlist\[0\]\.empty\(\)",),
    CrashKind.BACKWARD_TWICE: (
        r"backward through the graph a second time",
        r"already been freed",
    ),
    CrashKind.INPLACE: (
        r"modified by an inplace operation",
        r"leaf [Vv]ariable that requires grad .*in-?place operation",
        r"is a view and (is|its base or another view of its base has been) (being )?modified in-?place",
    ),
    CrashKind.NO_GRAD: (
        r"does not require grad and does not have a grad_fn",
        r"Inference tensors cannot be saved for backward",
    ),
    CrashKind.DEVICE: (
        r"on the same device",
        r"not on the expected device",
        r"expected device \S+ but got device",
        r"same device type",
        r"[Ee]xpected object of (device|backend) type",
        r"Expected all tensors to be on",
        r"but got \w+ on \w+(:\d)? device",
        r"(should be on|to be on|must be on) (the same |\w+ ?)(device|cuda|cpu)",
        r"Input type \(torch\.(cuda|cpu|mps)\.\w+\) and (weight|bias) type \(torch\.\w+Tensor\)",
        r"Input type \(torch\.\w+Tensor\) and (weight|bias) type \(torch\.(cuda|mps)",
        r"module must have its parameters and buffers on device",
        r"indices should be either on",
        r"are not at the same device",
        r"at least two devices",
        r"are on different devices",
        r"can't convert (cuda|mps|meta)\S* device type tensor to numpy",
        r"cannot be called on meta tensors",
        r"Cannot copy out of meta tensor",
    ),
    CrashKind.LABEL: (
        r"^Target -?\d+ is out of bounds",
        r"all elements of target should be between 0 and 1",
        r"Class values must be (smaller than num_classes|non-negative)",
        r"argument #2 'target' is out of range",
        r"^target out of range",
        r"Target values should be in \[",
        r"cur_target >= 0 && cur_target < n_classes",
    ),
    CrashKind.INDEX: (
        r"index out of range in self",
        r"index -?\d+ is out of bounds for dimension",
        r"takes value -?\d+ which is not in the valid",
        r"tried to access index -?\d+ on a tensor",
        r"index -?\d+ out of range for tensor of size",
        r"[Ii]ndex tensor .*out of bounds",
        r"exceeds dimension size",
    ),
    CrashKind.DTYPE: (
        r"same d(ata)?type",
        r"share same datatype",
        r"dtypes? (of|to be) ",
        r"expected (scalar type|target dtype|dtype)",
        r"[Ee]xpected object of (scalar|data) type",
        r"same scalar type",
        r"type \([\w:. ]+\) and (bias|weight) type \([\w:. ]+\) should be the same",
        r"Integral inputs not supported",
        r"does not match weight dtype",
        r"following scalar types",
        r"not implemented for '\w+'",
        r"Found dtype \w+ but expected",
        r"Expected floating point type",
        r"can't be cast to the desired output type",
        r"Expected dtype",
        r"scalar type \w+ but found",
        r"could not infer output dtype",
        r"must (be|have) .*dtype",
        r"floating point( and complex)? dtype can require gradients",
        r"used as indices must be long",
        r"only applicable to index tensor",
        r"only supports boolean masks",
        r"with two bool tensors is not supported",
        r"on a bool tensor is not supported",
        r"condition to be a boolean tensor",
        r"dtypes? match",
        r"must be equal to src.dtype",
        r"but got dtype \w+",
        r"to have same dtype",
        r"expected .*dtype.* but (got|found)",
        r"Input dtype must be",
    ),
    CrashKind.SHAPE: (
        r"shapes? cannot be multiplied",
        r"[Ii]ncompatible matrix sizes",
        r"size mismatch",
        r"[Ss]ize mismatch",
        r"must match the size",
        r"shape mismatch",
        r"to have \d+ channels, but got",
        r"\d+D \(batched\) input",
        r"Kernel size can't be greater",
        r"Output size is too small",
        r"spatial targets supported",
        r"converted to Python scalars",
        r"expected sequence of length \d+ at dim",
        r"size\(-1\) must be equal",
        r"Expected hidden(\[\d\])? size",
        r"input has inconsistent",
        r"[Ee]xpected input to be \d",
        r"expected input with shape",
        r"should contain \d+ elements",
        r"[Ee]xpected \d+D( or \d+D)* input",
        r"embedding dimension",
        r"does not match weight size",
        r"Expected size for",
        r"inconsistent t(ensor|arget) size",
        r"same number of elements",
        r"doesn't match the broadcast shape",
        r"is invalid for input of size",
        r"view size is not compatible",
        r"don't multiply up",
        r"[Ss]izes of tensors must match",
        r"same number of dimensions",
        r"to be equal size",
        r"[Ee]xpanded size of the tensor",
        r"number of dimensions",
        r"[Dd]imension out of range",
        r"does not broadcast with",
        r"shape of the mask",
        r"split_sizes to sum",
        r"batch_size \(\d+\) to match target",
        r"0D or 1D target",
        r"Expected target size",
        r"[Tt]arget size \(.*\)",
        r"var is of incorrect size",
        r"must be of size batch_size",
        r"same number of columns",
        r"only for scalar outputs",
        r"Mismatch in shape",
        r"maximum size for tensor",
        r"divisible by the square",
        r"no larger than self",
        r"converted to Scalar",
        r"too many indices for tensor",
        r"operands could not be broadcast together",
        r"weight tensor should be defined",
        r"has a mismatch in its core dimension",
        r"must be \d-?D",
        r"[Ii]ncompatible (shapes|dimensions)",
        r"must have the same (shape|size)",
        r"invalid shape dimension",
        r"must be (the )?same size",
        r"shape '?\[.*\]'? ",
        r"length of .* must (be equal|match)",
        r"sequence length",
        r"elements? to reshape",
        r"spatial dimensions",
        r"out of range \(expected to be in range",
        r"a Tensor with \d+ elements cannot",
        r"cannot reshape",
        r"For (un)?batched \d-D input",
        r"but should be \([\d, ]+\)",
        r"wrong shape",
        r"dims? mismatch",
        r"need to be at least \dD",
        r"shape of input",
        r"shape \[[-\d, ]+\] is invalid",
    ),
}
_FOUND = tuple((kind, re.compile("|".join(phrases), re.DOTALL)) for kind, phrases in _PHRASES.items())
_UNPACK = re.compile(r"(not enough|too many) values to unpack")
_SIZES = re.compile(r"\.(shape|size\(\))")


def kind_of(message: str, *, line: str = "") -> CrashKind | None:
    """Return what an exception complains about; None for what torch does not say.

    Args:
        message: What it says.
        line: Text of the line that raised.
    """
    if _UNPACK.search(message):
        return CrashKind.SHAPE if _SIZES.search(line) else None
    kind = next((kind for kind, pattern in _FOUND if pattern.search(message)), None)
    if kind is None and is_misuse(message, line):
        return CrashKind.MISUSE
    if kind is CrashKind.INDEX and "softmax" in line:
        return CrashKind.LABEL  # a cross-entropy by hand: the index is the class
    return kind
