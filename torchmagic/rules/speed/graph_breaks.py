"""A compiled function falls into parts, because something in it cannot be compiled.

*Symptom*: ``torch.compile`` hardly made anything faster.

*Why it happens*: ``print``, ``.item()``, a condition on a tensor's values or an unknown library in the middle of a
compiled function ends the compiled part; Python goes on, and another part begins after it. Nothing can be joined across
such a break.

*What to try*: move that line out of the compiled function. ``torch.compile(..., fullgraph=True)`` makes every break an
error that names it.

*Source*: PyTorch documentation, "Working with Graph Breaks".
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.profile_costs import profile_of, shown
from torchmagic.records.compilation import CompilationRecord, CompiledFunction
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_BREAKS = 1


@rule
def graph_breaks(run: Run, *, min_breaks: int = MIN_BREAKS) -> Iterator[Finding]:
    """Report each compiled function that was cut."""
    if profile_of(run) is None:
        return
    for record in run.of(CompilationRecord):
        for function in record.functions:
            if len(function.breaks) >= min_breaks:
                yield _finding(function, min_breaks)


def _finding(function: CompiledFunction, min_breaks: int) -> Finding:
    lines = few([str(place.line) for place in function.cuts])
    place = next(iter(function.cuts), function.place)
    parts = len(function.breaks) + 1
    return Finding(
        rule="graph-breaks",
        severity=Severity.INFO,
        confidence=0.7,
        title=f"{function.place.function} is compiled in at least {parts} parts",
        **line_of(shown(place)),
        evidence={f"reason {number}": reason for number, reason in enumerate(function.breaks, 1)}
        | ({"cut at lines": lines} if lines else {})
        | {"threshold": min_breaks},
        why=f"{function.breaks[0]}. What that costs was not measured.",
        fix=f"torch.compile({function.place.function}, fullgraph=True)  # names each line that has to move out",
    )
