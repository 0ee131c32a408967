"""This file is the cures: what helps against an operator that makes a value non-finite, by its cause and its name."""

from torchmagic.records.nonfinite import Cause, NonfiniteRecord

# What helps against each operator; the key is the beginning of its name.
CURES = {
    "log": "clamp the argument: torch.log(x.clamp_min(1e-8))",
    "div": "keep the divisor from zero: x / y.clamp_min(1e-8)",
    "sqrt": "keep the argument above zero: torch.sqrt(x.clamp_min(0) + 1e-8)",
    "exp": "use the stable form: log_softmax, logsumexp or a loss with logits",
    "pow": "keep base and exponent in range, or work with logarithms",
    "nll_loss": "leave out batches whose targets are all of classes of weight 0, or divide the sum by "
    "weight[target].sum().clamp_min(1e-8)",
    "binary_cross_entropy": "give logits to binary_cross_entropy_with_logits",
}
# What helps where the operator alone does not say it.
CURES_OF_CAUSES = {
    Cause.LOG_OF_NEGATIVE: "the argument is negative: make it positive as it is computed, by F.softplus(x) or x.exp(), "
    "or take torch.log(x.abs()) where only its size is meant",
    Cause.NORM_AT_ZERO: "keep the norm from zero: x / x.norm(dim=-1, keepdim=True).clamp_min(1e-8), or F.normalize(x)",
    Cause.SQRT_OF_NEGATIVE: "keep the argument above zero: torch.sqrt(x.clamp_min(0) + 1e-8)",
    Cause.MASKED_ROW: "leave a position open in every row of the mask, or zero such rows after the softmax",
    Cause.SINGLE_ELEMENT: "take the spread with correction=0, or skip groups of one element (drop_last=True)",
    Cause.EMPTY_REDUCTION: "skip the term when nothing is selected: if mask.any(): loss = loss + values[mask].mean()",
    Cause.NO_TARGETS: "skip batches whose targets are all ignored, or sum and divide by the count clamped to one",
    Cause.HALF_OVERFLOW: "compute this in float32 (or bfloat16), which reaches 3e38 where float16 ends at 65504",
    Cause.EXPLODED_WEIGHTS: "lower the learning rate, or torch.nn.utils.clip_grad_norm_({parameters}, 1.0)",
    Cause.OUT_OF_DOMAIN: "clamp the argument into the function's domain: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    Cause.INFINITY_MINUS_INFINITY: "use a large finite number instead of infinity: torch.finfo(x.dtype).min / 2",
    Cause.ZERO_TIMES_INFINITY: "select instead of multiplying: torch.where(mask, x, 0.0), x.masked_fill(~mask, 0.0), "
    "or use a large finite number instead of infinity",
    Cause.SINGULAR_MATRIX: "keep the matrix from being singular: A + 1e-6 * torch.eye(A.shape[-1])",
    Cause.LONG_TARGET: "leave out samples whose target needs more steps than their input has (repeated labels need one "
    "more each), or CTCLoss(zero_infinity=True)",
    Cause.BAD_CONSTANT: "look where the infinite number comes from: a schedule, a scale, or a best value so far",
}


def cure_of(record: NonfiniteRecord, parameters: str) -> str:
    """Return what helps against an origin, as a line of code or a short advice; empty where nothing is known.

    Args:
        record: The origin.
        parameters: How the cell writes the parameters of its model.
    """
    told = CURES_OF_CAUSES.get(record.cause, "").replace("{parameters}", parameters)
    op = (record.op or "").lstrip("_").lower()
    return told or next((text for name, text in CURES.items() if op.startswith(name)), "")
