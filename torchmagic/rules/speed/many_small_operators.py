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
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, duration, profile_of, seconds_of, shown
from torchmagic.analyses.savings import gained_by_model, saved, saves
from torchmagic.analyses.verified import Tried, told, verified
from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.costs import OperatorCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ModelRecord
from torchmagic.records.speed import ForwardRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time, what these operators take; a step of fewer has little to be made one of.
MIN_SHARE, MIN_CALLS = 0.2, 100
# Runs of a line in a step that are turns of a loop in Python: one call for all of them helps there, and a compiler
# takes long for a loop, of which it writes down each turn.
TURNS = 32
PHASES = ("forward", "backward")
CURE = "compile"


@rule
def many_small_operators(
    run: Run, *, min_share: float = MIN_SHARE, min_calls: float = MIN_CALLS, min_gain: float = LEAST_GAIN
) -> Iterator[Finding]:
    """Report the share of operators that a compiler would join, of models that are not compiled."""
    profile = profile_of(run)
    if profile is None or not profile.trains or _is_compiled(run):
        return
    found = _joinable(profile)
    calls = sum(each.calls for each in found) / profile.steps
    seconds = sum(map(seconds_of, found))
    if calls < min_calls or profile.share(seconds) < min_share:
        return
    name = next((record.model for record in run.of(ForwardRecord)), "model")
    tried = verified(run, CURE, name)
    if tried is None or tried.gain - tried.spread >= min_gain:
        what = f"{calls:,.0f} operators a step that work value by value take {profile.told(seconds)}"
        saving = gained_by_model(profile, tried, name)
        evidence = profile.evidence(seconds, min_share) | told(tried) | saves(profile, saving)
        yield _finding(profile, name, tried, what + _gain(tried) + saved(profile, saving, cost=seconds), evidence)


def _is_compiled(run: Run) -> bool:
    records: tuple[ModelRecord | ForwardRecord, ...] = (*run.of(ModelRecord), *run.of(ForwardRecord))
    return any(record.compiled for record in records) or bool(run.of(CompilationRecord))


def _gain(tried: Tried | None) -> str:
    return f"; compiled it is {tried.factor}" if tried is not None else ""


def _joinable(profile: Profile) -> list[OperatorCost]:
    """Return the operators that a compiler would join, the dearest first."""
    looped = {line.place for line in profile.costs.lines if line.calls >= TURNS * profile.steps}
    return [each for each in profile.operators(ELEMENTWISE, PHASES) if each.place not in looped]


def _finding(profile: Profile, name: str, tried: Tried | None, title: str, evidence: dict[str, float | str]) -> Finding:
    dearest = _joinable(profile)[0]
    return Finding(
        rule="many-small-operators",
        severity=Severity.INFO,
        confidence=0.9 if tried is not None else 0.55,
        title=title,
        module=dearest.module or None,
        **line_of(shown(dearest.place)),
        evidence=evidence | {"dearest": dearest.name, "its calls a step": _rounded(profile, dearest.calls)},
        why="Each reads and writes all its values for one small operation; a compiler makes one loop of several. "
        + _price(tried),
        fix=f"{name} = torch.compile({name})  # once, before the loop; the first steps then take long",
    )


def _price(tried: Tried | None) -> str:
    """Return what compiling costs, and after how many passes that is won back."""
    if tried is None:
        return "What that saves here was not measured."
    record = tried.record
    passes = record.preparation / max(record.before - record.after, 1e-9)
    return f"Compiling took {duration(record.preparation)}, which {passes:,.0f} passes forward and backward win back."


def _rounded(profile: Profile, calls: int) -> float:
    return round(calls / profile.steps)
