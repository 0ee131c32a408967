"""This file is the causes: why an operator's answer is not finite, told from the operator and what it was given."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchmagic.probes.origin_trace import Event, Trace, storage_of
from torchmagic.records.nonfinite import Cause
from torchmagic.tensors.finite import is_finite

LOGS = frozenset({"log", "log2", "log10", "log1p", "xlogy", "special_xlog1py", "logit"})
DIVISIONS = frozenset({"div", "true_divide", "reciprocal", "addcdiv", "remainder", "fmod"})
ROOTS = frozenset({"sqrt", "rsqrt"})
EXPONENTIALS = frozenset({"exp", "exp2", "expm1", "cosh", "sinh", "softplus"})
SOFTMAXES = frozenset({
    "_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu",
})  # fmt: skip
# Whole layers of attention in one operator; it may be given its masks as truth values.
ATTENTIONS = frozenset({"_native_multi_head_attention", "_transformer_encoder_layer_fwd"})
SPREADS = frozenset({"std", "var", "std_mean", "var_mean", "var_correction", "std_correction"})
DOMAINS = frozenset({"acos", "asin", "acosh", "atanh", "lgamma", "digamma", "erfinv", "tan"})
NORMS = frozenset({"linalg_vector_norm", "norm", "frobenius_norm"})
PRODUCTS = frozenset({"mul", "mm", "bmm", "mv", "dot", "addmm", "baddbmm", "addmv", "addcmul"})
DETERMINANTS = frozenset({"_linalg_slogdet", "linalg_inv_ex", "_linalg_solve_ex", "linalg_pinv"})
# What a node's derivative divides by, or takes the logarithm of.
SLOPES = {
    "Sqrt": Cause.SQRT_AT_ZERO,
    "LinalgVectorNorm": Cause.NORM_AT_ZERO,
    "Norm": Cause.NORM_AT_ZERO,
    "Cdist": Cause.NORM_AT_ZERO,
    "EuclideanDist": Cause.NORM_AT_ZERO,
    "Pow": Cause.POWER,
    "Log": Cause.LOG_OF_ZERO,
    "Log2": Cause.LOG_OF_ZERO,
    "Log10": Cause.LOG_OF_ZERO,
    "Log1P": Cause.LOG_OF_ZERO,
    "Xlogy": Cause.LOG_OF_ZERO,
    "Div": Cause.DIVISION_BY_ZERO,
    "Rsqrt": Cause.DIVISION_BY_ZERO,
    "Reciprocal": Cause.DIVISION_BY_ZERO,
    "Atan2": Cause.ZERO_OVER_ZERO,
    "Acos": Cause.OUT_OF_DOMAIN,
    "Asin": Cause.OUT_OF_DOMAIN,
    "Acosh": Cause.OUT_OF_DOMAIN,
    "Atanh": Cause.OUT_OF_DOMAIN,
    "Exp": Cause.EXP_OVERFLOW,
    "Std": Cause.SINGLE_ELEMENT,
    "Var": Cause.SINGLE_ELEMENT,
    "LinalgSvd": Cause.REPEATED_VALUES,
    "LinalgEigh": Cause.REPEATED_VALUES,
    "LinalgEig": Cause.REPEATED_VALUES,
    "LinalgSlogdet": Cause.SINGULAR_MATRIX,
    "LinalgDet": Cause.SINGULAR_MATRIX,
    "LinalgInvEx": Cause.SINGULAR_MATRIX,
}
MASKING = ("Where", "MaskedFill", "MaskedSelect", "Index")
MOST_NODES = 2000


@dataclass(frozen=True, slots=True)
class Given:
    """An event, and what its operator was given: all tensors, and the arguments as they came."""

    event: Event
    tensors: list[torch.Tensor]
    args: Any
    producers: dict[Any, str]


def cause_of(event: Event, trace: Trace, loss: list[torch.Tensor]) -> Cause:
    """Return the class of an event's cause.

    Args:
        event: The event at the origin.
        trace: All that was seen.
        loss: What the backward started from.
    """
    if event.outside:
        return Cause.BAD_DATA
    if event.call is None:
        return Cause.UNKNOWN
    _, args, kwargs = event.call
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    given = Given(event, tensors, args, trace.producers)
    if event.backward:
        return _of_backward(given, loss)
    finder = FINDERS.get(event.op.removeprefix("_foreach_").rstrip("_"))
    return (finder(given) if finder is not None else None) or _of_values(given)


def cause_of_operands(op: str, operand: torch.Tensor | None, output: torch.Tensor) -> Cause:
    """Return the class of the cause of what one operand alone makes non-finite, as far as its operator is known."""
    finder = FINDERS.get(op)
    if finder is None or operand is None:
        return Cause.UNKNOWN
    event = Event(0, op, bool(torch.isnan(output).any()), output)
    return finder(Given(event, [operand], (operand,), {})) or Cause.UNKNOWN


def _of_backward(given: Given, loss: list[torch.Tensor]) -> Cause:
    event = given.event
    if event.own:
        return Cause.OWN_BACKWARD
    # the derivative is taken where the forward's value was not used
    unused = event.has_nan and any(each.is_floating_point() and bool((each == 0).any()) for each in given.tensors)
    if unused and _behind_mask(event, loss):
        return Cause.MASK_LEAK
    return SLOPES.get(event.node.partition("Backward")[0]) or _of_values(given)


def _of_values(given: Given) -> Cause:
    constants = [each for each in tree_leaves(given.event.call and given.event.call[1:]) if isinstance(each, float)]
    if not all(map(math.isfinite, constants)):
        return Cause.BAD_CONSTANT
    if not all(map(is_finite, given.tensors)):
        return Cause.INFINITY_MINUS_INFINITY if given.event.has_nan else Cause.UNKNOWN
    if given.event.output.dtype is torch.float16:
        return Cause.HALF_OVERFLOW
    return Cause.OVERFLOW if given.tensors else Cause.UNKNOWN


def _behind_mask(event: Event, loss: list[torch.Tensor]) -> bool:
    """Whether a masking operator stands in the graph between the loss and an event's node."""
    queue: list[tuple[Any, bool]] = [(each.grad_fn, False) for each in loss if each.grad_fn is not None]
    seen: set[tuple[Any, bool]] = set()
    while queue and len(seen) < MOST_NODES:
        node, masked = queue.pop()
        if (node, masked) in seen:
            continue
        seen.add((node, masked))
        if masked and node._sequence_nr() == event.node_number:
            return True
        masked = masked or node.name().startswith(MASKING)
        queue += [(parent, masked) for parent, _ in node.next_functions if parent is not None]
    return False


def _of_log(given: Given) -> Cause:
    pole = -1 if given.event.op.startswith("log1p") else 0
    negative = any(bool((each < pole).any()) for each in given.tensors)
    return Cause.LOG_OF_NEGATIVE if negative else Cause.LOG_OF_ZERO


def _of_division(given: Given) -> Cause | None:
    divisor = given.tensors[-1] if given.tensors else None
    number = given.args[-1] if len(given.args) > 1 and isinstance(given.args[-1], (int, float)) else None
    if divisor is None or not bool((divisor == 0).any() if number is None else number == 0):
        return None
    if number is None and given.producers.get(storage_of(divisor)) in NORMS:
        return Cause.NORM_AT_ZERO
    return Cause.ZERO_OVER_ZERO if given.event.has_nan else Cause.DIVISION_BY_ZERO


def _of_root(given: Given) -> Cause:
    return Cause.SQRT_OF_NEGATIVE if given.event.has_nan else Cause.DIVISION_BY_ZERO


def _of_softmax(given: Given) -> Cause | None:
    return Cause.MASKED_ROW if given.event.has_nan and not all(map(is_finite, given.tensors)) else None


def _of_attention(given: Given) -> Cause | None:
    masks = [each for each in given.tensors if each.dtype is torch.bool and each.dim()]
    return Cause.MASKED_ROW if any(bool(each.all(-1).any()) for each in masks) else _of_softmax(given)


def _of_spread(given: Given) -> Cause | None:
    return _of_mean(given) or (Cause.SINGLE_ELEMENT if given.event.has_nan else None)


def _of_mean(given: Given) -> Cause | None:
    return Cause.EMPTY_REDUCTION if any(not each.numel() for each in given.tensors) else None


def _of_weight_norm(given: Given) -> Cause | None:
    return Cause.NORM_AT_ZERO if given.event.has_nan else None


def _of_targets(given: Given) -> Cause | None:
    """Return that no target counts, or that those which do are of classes whose weight is zero."""
    _, targets, weights, _, ignored = (*given.args, *[None] * 5)[:5]
    if _of_mean(given) or not isinstance(targets, torch.Tensor):
        return _of_mean(given)
    counting = targets[targets != (-100 if ignored is None else ignored)]
    if not counting.numel():
        return Cause.NO_TARGETS
    weightless = isinstance(weights, torch.Tensor) and bool((weights[counting] == 0).all())
    return Cause.ZERO_OVER_ZERO if weightless else None


def _of_product(given: Given) -> Cause | None:
    """Return zero times infinity, where no value given was NaN and both stand there."""
    if not given.event.has_nan or any(bool(torch.isnan(each).any()) for each in given.tensors):
        return None
    both = any(bool((each == 0).any()) for each in given.tensors), not all(map(is_finite, given.tensors))
    return Cause.ZERO_TIMES_INFINITY if all(both) else None


def _of_power(given: Given) -> Cause:
    if given.event.output.dtype is not torch.float16:
        return Cause.POWER
    wide = [each.double() if isinstance(each, torch.Tensor) else each for each in given.args[:2]]
    return Cause.HALF_OVERFLOW if is_finite(torch.pow(*wide)) else Cause.POWER


def _of_alignment(given: Given) -> Cause | None:
    return Cause.LONG_TARGET if all(map(is_finite, given.tensors)) else None


def _always(cause: Cause) -> "Finder":
    return lambda _: cause


Finder = Callable[[Given], Cause | None]
FINDERS: dict[str, Finder] = {
    **dict.fromkeys(LOGS, _of_log),
    **dict.fromkeys(DIVISIONS, _of_division),
    **dict.fromkeys(ROOTS, _of_root),
    **dict.fromkeys(SOFTMAXES, _of_softmax),
    **dict.fromkeys(ATTENTIONS, _of_attention),
    **dict.fromkeys(SPREADS, _of_spread),
    **dict.fromkeys(("mean", "nanmean", "native_layer_norm", "native_batch_norm"), _of_mean),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _of_targets),
    **dict.fromkeys(EXPONENTIALS, _always(Cause.EXP_OVERFLOW)),
    **dict.fromkeys(DOMAINS, _always(Cause.OUT_OF_DOMAIN)),
    **dict.fromkeys(("_weight_norm", "_weight_norm_interface"), _of_weight_norm),
    **dict.fromkeys(PRODUCTS, _of_product),
    **dict.fromkeys(DETERMINANTS, _always(Cause.SINGULAR_MATRIX)),
    **dict.fromkeys(("_ctc_loss", "_cudnn_ctc_loss"), _of_alignment),
    "pow": _of_power,
    "float_power": _of_power,
}
