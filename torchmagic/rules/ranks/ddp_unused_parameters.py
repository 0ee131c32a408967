"""Parameters get no gradient in a step, and ``DistributedDataParallel`` waits for them.

*Symptom*: ``RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one``.

*Why it happens*: the wrapper exchanges gradients in buckets and counts them. A parameter that the loss does not depend
on in this step, such as one of a branch that was not taken, leaves its bucket open.

*What to try*: let every output of ``forward`` take part in the loss, or remove what is not used, or pass
``find_unused_parameters=True``, which walks the graph at each step.

*Source*: PyTorch documentation of ``DistributedDataParallel``, ``find_unused_parameters``.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.ranks_exchange import wraps
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.records.ranks import WithoutGradientRecord
from torchmagic.rules.rule import line_of, line_of_crash, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

MESSAGE = "Expected to have finished reduction in the prior iteration"
MOST_NAMES = 3


@rule
def ddp_unused_parameters(run: Run) -> Iterator[Finding]:
    """Report the exception with which the wrapper gave up, and the parameters that had no gradient."""
    ranks = run.ranks
    if ranks is None:
        return
    crashes = {
        rank: crash for rank, found in ranks.of(CrashRecord).items() for crash in found if MESSAGE in crash.message
    }
    if crashes:
        yield _finding(ranks, crashes)


def _finding(ranks: Ranks, crashes: dict[int, CrashRecord]) -> Finding:
    rank = min(crashes)
    crash, records = crashes[rank], ranks.of(WithoutGradientRecord)
    without = [record for each in crashes for record in records.get(each, ()) if record.step == _last_step(ranks, each)]
    found = max(without, key=lambda record: record.num_parameters, default=None)
    names = list(found.parameters) if found is not None else []
    wrap = next(iter(wraps(ranks, found.model if found is not None else "")), None)
    told = few(names, most=MOST_NAMES)
    where = line_of_crash(crash) if crash.line else line_of(wrap.place if wrap else None)
    return Finding(
        rule="ddp-unused-parameters",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"no gradient for {told}: DistributedDataParallel gave up on {ranks_said(crashes)}"
        if names
        else f"some parameters got no gradient: DistributedDataParallel gave up on {ranks_said(crashes)}",
        parameter=names[0] if names else None,
        **where,
        step=_last_step(ranks, rank),
        evidence={
            "parameters without a gradient": found.num_parameters if found is not None else "not seen",
            "find_unused_parameters": str(wrap.find_unused_parameters) if wrap is not None else "not known",
        },
        why="The loss did not depend on them in the step before, so their part of the exchange never took place.",
        fix="DistributedDataParallel(model, find_unused_parameters=True)  # or use them in the loss, or remove them",
    )


def _last_step(ranks: Ranks, rank: int) -> int:
    """Return the last step that a rank made; the exception comes at the forward after it."""
    return max(0, ranks.runs[rank].steps - 1)
