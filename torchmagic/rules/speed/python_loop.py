"""A loop in Python calls small operators one after the other.

*Symptom*: the model is small, yet a step takes long; the profile shows lines that run hundreds of times a step.

*Why it happens*: each turn of the loop costs Python some microseconds for every call, and each operator its own start,
however few values it works on. The backward goes through all of them once more.

*What to try*: one call on the whole tensor instead of one for each part of it: ``nn.LSTM`` for ``nn.LSTMCell`` in a
loop, ``torch.bmm`` for products one by one, ``torch.stack`` and ``torch.where`` for lists and ``if``.

*Source*: PyTorch documentation, "Performance Tuning Guide" and ``nn.LSTM``.
"""

from collections.abc import Iterator, Mapping
from itertools import takewhile

from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, as_code, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.costs import LineCost, ModuleCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Turns a backward; models are seldom so many layers deep, and a loop over layers cannot be helped.
MIN_TURNS = 32
# Of the time: what all lines of the loop cost, their backward included.
MIN_SHARE = 0.1
# Seconds of operators a turn from which on they are no longer small.
SMALL = 2e-4
# Seconds of a module's call, its backward included, from which on a call for each part is large enough.
SMALL_CALL = 1e-3


@rule
def python_loop(
    run: Run,
    *,
    min_turns: float = MIN_TURNS,
    min_share: float = MIN_SHARE,
    small: float = SMALL,
    small_call: float = SMALL_CALL,
) -> Iterator[Finding]:
    """Report the dearest function whose lines, or else the module whose calls, are many a step and small."""
    profile = profile_of(run)
    if profile is None or not profile.trains:
        return
    backwards = max((each.calls for each in profile.costs.lines if ".backward(" in each.place.source), default=0)
    least = min_turns * max(profile.steps, backwards)
    loops: dict[tuple[str, str], list[LineCost]] = {}
    for line in profile.costs.lines:
        if line.calls >= least:
            loops.setdefault((line.place.file, line.place.function), []).append(line)
    learning = [lines for lines in loops.values() if any(line.backward > 0 for line in lines)]
    lines = max(learning, key=_cost, default=[])
    own = sum(max(0.0, line.own - line.operators) for line in lines)
    largest = max((line.operators / line.calls for line in lines), default=0.0)
    if lines and profile.share(_cost(lines)) >= min_share and profile.share(own) >= LEAST_GAIN and largest < small:
        yield _finding(profile, lines, own, min_share)
    elif module := _called_often(profile, min_turns, min_share, small_call):
        yield _module_finding(profile, module, min_share)


def _called_often(profile: Profile, min_turns: float, min_share: float, small_call: float) -> ModuleCost | None:
    """Return the dearest module that is called many times, for a short while each, in a call of the one around it."""
    calls = {(each.model, each.path): each.calls for each in profile.costs.modules}
    found = [
        each
        for each in profile.costs.modules
        if each.calls >= min_turns * _calls_around(calls, each)
        and _time(each) < small_call * each.calls
        and each.backward > 0
        and profile.share(_time(each)) >= min_share
    ]
    return max(found, key=_time, default=None)


def _calls_around(calls: Mapping[tuple[str, str], int], module: ModuleCost) -> int:
    """Return how often the module around one was called; of lists of modules, which are not called, the one around."""
    path = module.path
    while path:
        path = path.rpartition(".")[0]
        if around := calls.get((module.model, path)):
            return around
    return module.calls


def _time(module: ModuleCost) -> float:
    return module.forward + module.backward


def _module_finding(profile: Profile, module: ModuleCost, min_share: float) -> Finding:
    name = f"{module.model}.{module.path}"
    inside = [each for each in profile.costs.operators if f"{each.module}.".startswith(f"{name}.") and each.place]
    place = max(inside, key=lambda each: each.own).place if inside else None
    turns = round(module.calls / profile.steps)
    return Finding(
        rule="python-loop",
        severity=Severity.INFO,
        confidence=0.6,
        title=f"{name} is called {turns:,} times a step and takes {profile.told(_time(module))}",
        module=name,
        **line_of(shown(place)),
        evidence=profile.evidence(_time(module), min_share)
        | {"calls a step": turns, "seconds a call": round(_time(module) / module.calls, 6)},
        why="Each call does little, and its start and Python's work, forward and backward, cost time of their own.",
        fix=f"one call for all rows, where no call needs what another gave: {as_code(name).rpartition('.')[2]}(batch)",
    )


def _cost(lines: list[LineCost]) -> float:
    return sum(line.own + line.backward for line in lines)


def _finding(profile: Profile, lines: list[LineCost], own: float, min_share: float) -> Finding:
    cost = _cost(lines)
    dearest = max(lines, key=lambda line: (line.backward > 0, line.own + line.backward))
    turns = round(dearest.calls / profile.steps)
    saving = own * (1 - 1 / turns)  # one call is left; what operators and the backward gain was not measured
    return Finding(
        rule="python-loop",
        severity=Severity.INFO,
        confidence=0.7,
        title=f"a loop of {turns:,} turns a step takes {profile.told(cost)}"
        f"{saved(profile, saving, cost=cost)} in Python alone",
        module=_module(profile, dearest),
        **line_of(shown(dearest.place)),
        evidence=profile.evidence(cost, min_share)
        | saves(profile, saving)
        | {"turns a step": turns, "of the time, Python's own": f"{profile.share(own):.0%}"},
        why="Each turn calls operators on few values, and their start and Python's work cost more than the values do.",
        fix="one call for all turns, such as x.norm(dim=1) for all rows, or nn.LSTM instead of nn.LSTMCell in a loop",
    )


def _module(profile: Profile, line: LineCost) -> str | None:
    """Return the module that holds all those in which a line's operators run."""
    paths = [each.module.split(".") for each in profile.costs.operators if each.place == line.place and each.module]
    common = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return ".".join(names[0] for names in common) or None
