"""Numbers of type float16 are about to overflow, or gradients vanish in it because the loss is not scaled.

*Symptom*: mixed precision learns worse than single precision, or ends in NaN without warning.

*Why it happens*: the largest float16 is 65,504 and the smallest normal one 0.00006. A layer whose outputs come within a
factor of two of the one will soon pass it; gradients below the other lose their digits and then become zero.

*What to try*: use ``torch.bfloat16``, which has the range of float32. With float16, scale the loss by
``torch.amp.GradScaler``, and normalise what a layer sums up.

*Source*: Micikevicius et al., "Mixed precision training", ICLR 2018; Hugging Face ``DebugUnderflowOverflow``.
"""

from collections.abc import Iterator
from math import isfinite, isnan

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.precision import AutocastRecord, HalfWeightsRecord, ScalerUseRecord
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Doublings left to the greatest number: below one, the next larger batch overflows.
MIN_BITS = 1.0
# More than half of a parameter's gradient lost leaves no direction to follow; zeros of ReLU alone stay below that.
MAX_LOST = 0.5
MIN_LOOKS = 3
FLOAT16 = "float16"


@rule
def fp16_headroom(
    run: Run, *, min_bits: float = MIN_BITS, max_lost: float = MAX_LOST, min_looks: int = MIN_LOOKS
) -> Iterator[Finding]:
    """Report the layer nearest to overflow, and the parameter whose gradients are lost without a scaler."""
    dtypes = {record.dtype for record in run.of(AutocastRecord)} | {
        record.dtype for record in run.of(HalfWeightsRecord)
    }
    if FLOAT16 not in dtypes or "bfloat16" in dtypes:
        return
    yield from _near_overflow(run, min_bits, min_looks)
    if not run.of(ScalerUseRecord):
        yield from _underflow(run, max_lost, min_looks)


def _near_overflow(run: Run, min_bits: float, min_looks: int) -> Iterator[Finding]:
    lowest = {
        module: _typical(run.series("activation_headroom", module=module)[1], min_looks)
        for module in run.subjects("activation_headroom")
    }
    module = min(lowest, key=lambda each: lowest[each], default=None)
    # No bits at all: it has overflowed, and what follows from that has rules of its own.
    if module is not None and 0.0 < lowest[module] < min_bits:
        yield Finding(
            rule="fp16-headroom",
            severity=Severity.WARNING,
            confidence=0.8,
            title=f"the outputs of {module} are within a factor of {2 ** lowest[module]:.1f} of the largest float16",
            module=module,
            evidence={"doublings left": lowest[module], "threshold": min_bits},
            why="One batch with somewhat larger values gives infinity, and NaN after that.",
            fix="torch.autocast(device, dtype=torch.bfloat16)  # the range of float32",
        )


def _underflow(run: Run, max_lost: float, min_looks: int) -> Iterator[Finding]:
    lost = {
        name: _typical(run.series("grad_subnormal_share", parameter=name)[1], min_looks)
        for name in run.subjects("grad_subnormal_share")
    }
    worst = max((name for name in lost if isfinite(lost[name])), key=lambda each: lost[each], default=None)
    if worst is not None and lost[worst] > max_lost:
        yield Finding(
            rule="fp16-headroom",
            severity=Severity.WARNING,
            confidence=0.8,
            title=f"{lost[worst]:.0%} of the gradient of {worst} is below the smallest normal float16",
            module=worst.rpartition(".")[0],
            parameter=worst,
            evidence={
                "share of the gradient": f"{lost[worst]:.0%}",
                "threshold": f"{max_lost:.0%}",
                "loss scaling": "none",
            },
            why="Numbers that small keep few digits or become zero; a scaled loss lifts them into range.",
            fix="scaler = torch.amp.GradScaler(); scaler.scale(loss).backward(); scaler.step(optimizer)",
        )


def _typical(values: list[float], min_looks: int) -> float:
    """Return the middle one of the values, infinity where there are too few to tell."""
    known = sorted(value for value in values if not isnan(value))  # NaN where all was zero
    return known[len(known) // 2] if len(known) >= min_looks else float("inf")
