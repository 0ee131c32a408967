"""This file is what the debuggers say of one tensor, and of each parameter of a model."""

from dataclasses import asdict, dataclass
from typing import Any

import torch

from torchmagic.models.component_memory import MB
from torchmagic.models.parameters import names_of
from torchmagic.models.tree import is_lazy
from torchmagic.records.tensor import Statistics, TensorRecord
from torchmagic.tensors.layout import metadata
from torchmagic.tensors.readable import readable_statistics
from torchmagic.tensors.reduce import norms
from torchmagic.tensors.sources import as_tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorAnalysis:
    """What one tensor is and what its values are like; it holds numbers and text, not the tensor.

    Statistics are of the finite values; of complex numbers by their magnitudes, of sparse tensors where stored.

    Args:
        name: What it is called; may be empty.
        shape: Sizes; -1 for a dimension that has no single size.
        dtype: As torch names it, without ``torch.``.
        device: As torch names it.
        requires_grad: Whether autograd follows it.
        is_leaf: Whether no operation that autograd recorded made it.
        num_elements: Elements of the shape.
        memory_usage: MB (2**20 bytes) of its elements; of a sparse tensor, of stored values and indices.
        has_nan: Whether a value is NaN.
        has_inf: Whether a value is infinite.
        num_nan: Values that are NaN.
        num_inf: Values that are infinite.
        num_zero: Values that are zero.
        mean_value: Mean; None, like the next three, where no value is finite or can be read.
        std_value: Standard deviation with divisor n - 1; 0 of a single value.
        min_value: Smallest value.
        max_value: Greatest value.
        norm: L2 norm.
        grad_norm: L2 norm of its ``.grad``, NaN or infinite where that is; None without one.
        also: Other names of the same tensor (tied weights).
        notes: What a reader has to know about the numbers, one sentence each.
    """

    name: str = ""
    shape: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool = False
    is_leaf: bool = True
    num_elements: int = 0
    memory_usage: float = 0.0
    has_nan: bool = False
    has_inf: bool = False
    num_nan: int = 0
    num_inf: int = 0
    num_zero: int = 0
    mean_value: float | None = None
    std_value: float | None = None
    min_value: float | None = None
    max_value: float | None = None
    norm: float | None = None
    grad_norm: float | None = None
    also: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_finite(self) -> bool:
        """Whether no value is NaN or infinite."""
        return not (self.has_nan or self.has_inf)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as a dictionary of numbers, texts and tuples."""
        return asdict(self)


def analyze_tensor(tensor: Any, name: str = "", *, also: tuple[str, ...] = ()) -> TensorAnalysis:
    """Look at one tensor: NaN, infinity, mean, spread, ends, memory, and the norm of its gradient.

    Neither the tensor nor its gradient nor any random number stream is changed, and the tensor is not held.

    Args:
        tensor: A tensor of any kind, a parameter, a NumPy array or a NumPy number.
        name: What to call it.
        also: Other names that it has.

    Raises:
        TypeError: If it is something else; one line says what came, what was wanted and what to do.

    Example:
        >>> info = analyze_tensor(torch.tensor([1.0, float("nan"), 3.0]), "x")
        >>> info.has_nan, info.mean_value
        (True, 2.0)
    """
    source, notes = as_tensor(tensor)
    if is_lazy(source):
        return _without_shape(source, name, also)
    facts = metadata(source, name=name, kind=type(tensor).__name__)
    statistics, more = readable_statistics(source)
    return _analysis(facts, statistics, grad_norm=_grad_norm(source), also=also, notes=notes + more)


def analyze_model_parameters(model: Any) -> dict[str, TensorAnalysis]:
    """Look at each parameter of a model; a tied one once, with its other names in ``also``.

    Args:
        model: A module, a wrapper around one, or an object that holds some, such as a pipeline.

    Returns:
        By parameter name, in the order of the model.

    Raises:
        TypeError: If there is no model; one line.
    """
    return {names[0]: analyze_tensor(each, names[0], also=names[1:]) for names, each in names_of(model)}


def _without_shape(source: torch.Tensor, name: str, also: tuple[str, ...]) -> TensorAnalysis:
    return TensorAnalysis(
        name=name,
        shape=(),
        dtype=str(source.dtype).removeprefix("torch."),
        device=str(source.device),
        requires_grad=source.requires_grad,
        also=also,
        notes=("no shape before the first input",),
    )


def _grad_norm(source: torch.Tensor) -> float | None:
    # torch warns when .grad of a tensor that cannot have one is read.
    gradient = source.grad if source.is_leaf or source.retains_grad else None
    return None if gradient is None else norms([gradient])[0]


def _analysis(
    facts: TensorRecord,
    found: Statistics | None,
    *,
    grad_norm: float | None,
    also: tuple[str, ...],
    notes: tuple[str, ...],
) -> TensorAnalysis:
    found = found or Statistics(num_values=0)
    num_inf = found.num_posinf + found.num_neginf
    return TensorAnalysis(
        name=facts.name,
        shape=facts.shape,
        dtype=facts.dtype,
        device=facts.device,
        requires_grad=facts.requires_grad,
        is_leaf=facts.is_leaf,
        num_elements=facts.num_elements,
        memory_usage=facts.num_bytes / MB,
        has_nan=found.num_nan > 0,
        has_inf=num_inf > 0,
        num_nan=found.num_nan,
        num_inf=num_inf,
        num_zero=found.num_zero,
        mean_value=found.mean,
        std_value=0.0 if found.num_finite == 1 else found.std,
        min_value=found.min,
        max_value=found.max,
        norm=found.l2,
        grad_norm=grad_norm,
        also=also,
        notes=notes,
    )
