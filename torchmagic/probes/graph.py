"""This file reads the graph above a loss: which of its operators can have made a value or a gradient non-finite."""

from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from torchmagic.analyses.source_lines import lines_calling
from torchmagic.probes.names import Names
from torchmagic.probes.origin_causes import cause_of_operands
from torchmagic.probes.sites import Site, source_of
from torchmagic.probes.spoiled import spoiled_variable
from torchmagic.records.nonfinite import Cause
from torchmagic.tensors.finite import is_finite

OPERANDS = ("_saved_other", "_saved_self")
# Nodes looked at: all that stands between a model and its loss, and the last layers.
MOST_NODES = 400
# Words with which an operator is written in code, where they differ from its node's name.
SPELLINGS = {
    "Div": ("div", "/"),
    "Pow": ("pow", "**"),
    "LinalgVectorNorm": ("norm", "vector_norm"),
    "Norm": ("norm",),
    "Cdist": ("cdist",),
    "Where": ("where",),
}
# How each operator's output follows from what its node saved.
FORWARD: dict[str, Any] = {
    "Log": lambda node: torch.log(node._saved_self),
    "Log2": lambda node: torch.log2(node._saved_self),
    "Log10": lambda node: torch.log10(node._saved_self),
    "Log1P": lambda node: torch.log1p(node._saved_self),
    "Sqrt": lambda node: node._saved_result,
    "Rsqrt": lambda node: node._saved_result,
    "Reciprocal": lambda node: node._saved_result,
    "Exp": lambda node: node._saved_result,
    "Acos": lambda node: torch.acos(node._saved_self),
    "Asin": lambda node: torch.asin(node._saved_self),
    "Atanh": lambda node: torch.atanh(node._saved_self),
    "Pow": lambda node: torch.pow(node._saved_self, node._saved_exponent),
    "Div": lambda node: 1.0 / node._saved_other,
    "Std": lambda node: node._saved_result,
    "Var": lambda node: torch.var(node._saved_self),
}
# Operators whose derivative is infinite somewhere their value is finite, the likeliest first.
SINGULAR = (
    "Sqrt",
    "LinalgVectorNorm",
    "Norm",
    "Cdist",
    "Pow",
    "Std",
    "Acos",
    "Asin",
    "Atan2",
    "Log",
    "Rsqrt",
    "Div",
    "Where",
)


def forward_suspect(
    loss: torch.Tensor, site: Site | None, names: Names, frame: FrameType | None = None
) -> tuple[str | None, Site | None, str, Cause]:
    """Return the operator above a loss whose saved operands give a non-finite value: name, line, operands and cause.

    Where there is none, it may be a variable of the frame that was computed before, without a gradient.
    """
    deepest: tuple[str, Any, torch.Tensor] | None = None
    for node in _nodes(loss):
        kind = _kind(node)
        compute = FORWARD.get(kind)
        if compute is None:
            continue
        try:
            output, given = compute(node), _given(node)
        except (RuntimeError, AttributeError, TypeError):
            continue
        if isinstance(output, torch.Tensor) and not is_finite(output) and (given is None or is_finite(given)):
            deepest = (kind, given, output)
    if deepest is None:
        spoiled = spoiled_variable(_nodes(loss), frame)
        what, line = (f"the computation of {spoiled[0]}", spoiled[1]) if spoiled is not None else (None, None)
        return what, line, "", Cause.UNKNOWN
    kind, given, output = deepest
    words = f"given {given.min().item():.4g} to {given.max().item():.4g}" if given is not None and given.numel() else ""
    return kind.lower(), _line_of(kind, site, names), words, cause_of_operands(kind.lower(), given, output)


def _given(node: Any) -> torch.Tensor | None:
    """Return the operand that decides: what is divided by, else what the operator was given."""
    return next((each for key in OPERANDS if (each := getattr(node, key, None)) is not None), None)


def gradient_suspect(loss: torch.Tensor | None, site: Site | None, names: Names) -> tuple[str | None, Site | None]:
    """Return the likeliest operator whose derivative is not finite, from the names in the graph, and its line."""
    if loss is None:
        return None, None
    kinds = {_kind(node) for node in _nodes(loss)}
    suspect = next((kind for kind in SINGULAR if kind in kinds), None)
    return (f"{suspect}Backward0", _line_of(suspect, site, names)) if suspect else (None, None)


def _nodes(loss: torch.Tensor) -> Iterator[Any]:
    """Yield the nodes above a loss, those nearest to it first."""
    queue: list[Any] = [loss.grad_fn]
    seen: set[Any] = set()
    while queue and len(seen) < MOST_NODES:
        node = queue.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        queue.extend(parent for parent, _ in node.next_functions)


def _kind(node: Any) -> str:
    return str(node.name()).partition("Backward")[0]


def _line_of(kind: str, site: Site | None, names: Names) -> Site | None:
    """Return the one line of the user's code that calls the operator; None when there are several or none."""
    words = SPELLINGS.get(kind, (kind.lower(),))
    codes = [site.code] if site is not None else []
    codes += [value.__code__ for _, value in names.functions()]
    files = {code.co_filename: code for code in codes}
    found = [(code, line) for file, code in files.items() for line in lines_calling(source_of(file), words)]
    return Site(found[0][0], found[0][1]) if len(found) == 1 else None
