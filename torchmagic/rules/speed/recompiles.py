"""A compiled function is compiled again and again.

*Symptom*: with ``torch.compile`` the training is slow for long, or stops now and then for seconds.

*Why it happens*: what was compiled holds for what it was compiled for: shapes, types, values of Python numbers,
training or evaluation. With each new combination it is compiled anew, up to eight times; then it runs uncompiled.

*What to try*: batches of one shape (``drop_last=True``, padding to few lengths), ``torch.compile(..., dynamic=True)``,
and tensors instead of Python numbers that change.

*Source*: PyTorch documentation, "Dealing with Recompilations".
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, duration, profile_of, shown
from torchmagic.analyses.savings import saved_of_run, saves_of_run
from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Once for the first shape, once for all shapes, once without gradients.
MIN_TIMES = 4


@rule
def recompiles(run: Run, *, min_share: float = LEAST_GAIN, min_times: int = MIN_TIMES) -> Iterator[Finding]:
    """Report each function that was compiled often in this run, where that took long enough."""
    if profile_of(run) is None:
        return
    functions = [(each, record.run_seconds) for record in run.of(CompilationRecord) for each in record.functions]
    for function, seconds in functions:
        if function.times < min_times or function.seconds < min_share * seconds:
            continue
        name = function.place.function
        saving = function.seconds * (1 - 1 / function.times)  # once it has to be compiled
        numbered = {f"reason {number}": reason for number, reason in enumerate(function.reasons, 1)}
        yield Finding(
            rule="recompiles",
            severity=Severity.INFO,
            confidence=0.9,
            title=f"{name} was compiled {function.times} times, which took {duration(function.seconds)}"
            + saved_of_run(saving, seconds),
            **line_of(shown(function.place)),
            evidence={
                "seconds": float(f"{function.seconds:.3g}"),
                "share of the run": f"{function.seconds / max(function.seconds, seconds):.0%}",
                "times": function.times,
                "threshold": min_times,
                **saves_of_run(saving, seconds),
                **numbered,
            },
            why="Something that it was compiled for changed: "
            + next(iter(function.reasons), "torch does not say what"),
            fix="torch.compile(..., dynamic=True)  # and batches of one shape, such as by drop_last=True",
        )
