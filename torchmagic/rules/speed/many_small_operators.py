"""Much of the time goes into many operators that work value by value.

*Symptom*: hundreds of additions, multiplications and activations a step, each of a few microseconds, and no single
dear operator.

*Why it happens*: each of them reads all its values from memory, does next to nothing, and writes them back; and each
has to be started. A compiler makes one loop of those that follow each other.

*What to try*: ``model = torch.compile(model)``, once before the loop. The first steps then take long, up to a minute,
so that it pays only where many follow. Ready-made layers such as ``nn.LayerNorm`` and ``nn.GELU`` help too.

*Source*: PyTorch tutorial, "Introduction to torch.compile".
"""

from collections.abc import Iterator

from torchmagic.analyses.operator_kinds import ELEMENTWISE
from torchmagic.analyses.profile_costs import Profile, profile_of, shown
from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ModelRecord
from torchmagic.records.speed import ForwardRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time, what these operators take; a step of fewer has little to be made one of.
MIN_SHARE, MIN_CALLS = 0.2, 100
PHASES = ("forward", "backward")


@rule
def many_small_operators(run: Run, *, min_share: float = MIN_SHARE, min_calls: float = MIN_CALLS) -> Iterator[Finding]:
    """Report the share of operators that a compiler would join, of models that are not compiled."""
    profile = profile_of(run)
    if profile is None or not profile.trains or _is_compiled(run):
        return
    found = profile.operators(ELEMENTWISE, PHASES)
    calls = sum(each.calls for each in found) / profile.steps
    seconds = profile.own(ELEMENTWISE, PHASES)
    if calls >= min_calls and profile.share(seconds) >= min_share:
        yield _finding(run, profile, calls, seconds, min_share)


def _is_compiled(run: Run) -> bool:
    records: tuple[ModelRecord | ForwardRecord, ...] = (*run.of(ModelRecord), *run.of(ForwardRecord))
    return any(record.compiled for record in records) or bool(run.of(CompilationRecord))


def _finding(run: Run, profile: Profile, calls: float, seconds: float, min_share: float) -> Finding:
    dearest = profile.operators(ELEMENTWISE, PHASES)[0]
    name = next((record.model for record in run.of(ForwardRecord)), "model")
    return Finding(
        rule="many-small-operators",
        severity=Severity.INFO,
        confidence=0.55,
        title=f"{calls:,.0f} operators a step that work value by value take {profile.told(seconds)}",
        module=dearest.module or None,
        **line_of(shown(dearest.place)),
        evidence=profile.evidence(seconds, min_share)
        | {"dearest": dearest.name, "its calls a step": _rounded(profile, dearest.calls)},
        why="Each reads and writes all its values for one small operation; a compiler makes one loop of several. What "
        "that saves here was not measured.",
        fix=f"{name} = torch.compile({name})  # once, before the loop; the first steps then take long",
    )


def _rounded(profile: Profile, calls: int) -> float:
    return round(calls / profile.steps)
