"""Layers compute in float64, which costs twice the memory and much of the speed.

*Symptom*: one layer takes far longer than others of its size.

*Why it happens*: a layer was made with ``dtype=torch.float64`` or ``.double()``, or was given the type of numpy's
arrays, and all that goes through it is brought to that type.

*What to try*: ``layer.float()``, and ``x.float()`` for what it is given.

*Source*: NVIDIA data sheets (float64 runs at 1/2 to 1/64 of the speed); on processors a vector holds half as many.
"""

from collections.abc import Iterator
from itertools import takewhile

from torchmagic.analyses.counting import counted
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, as_code, path_of, profile_of, shown
from torchmagic.records.costs import ModuleCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.notebook import GlobalModesRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

FLOAT64 = "float64"
# Code that takes second derivatives, or says that it wants float64, has its reasons.
INTENT = ("set_default_dtype", "create_graph", "gradcheck", "hessian", "jacobian", "hvp", "jacrev", "jacfwd")


@rule
def double_precision(run: Run, *, min_share: float = LEAST_GAIN) -> Iterator[Finding]:
    """Report the modules of a model that have float64 parameters, with what they cost."""
    profile = profile_of(run)
    if profile is None or not profile.trains or _is_meant(run, profile):
        return
    for model in dict.fromkeys(each.model for each in profile.costs.modules):
        modules = [each for each in profile.costs.modules if each.model == model and each.dtype == FLOAT64]
        cost = sum(_cost(each) for each in modules)
        if modules and profile.share(cost) >= min_share:
            yield _finding(profile, sorted(modules, key=_cost, reverse=True), cost, min_share)


def _is_meant(run: Run, profile: Profile) -> bool:
    chosen = any("torch.set_default_dtype" in record.changed for record in run.of(GlobalModesRecord))
    default = any(record.default_dtype == FLOAT64 for record in run.of(EnvironmentRecord))
    second_order = any(record.class_name == "LBFGS" for record in run.of(OptimizerRecord))
    return chosen or default or second_order or profile.mentions(*INTENT)


def _cost(module: ModuleCost) -> float:
    return module.device if module.device is not None else module.forward_own + module.backward_own


def _finding(profile: Profile, modules: list[ModuleCost], cost: float, min_share: float) -> Finding:
    path = path_of(modules[0])
    more = len(modules) - 1
    several = f" and {counted(more, 'more module')} compute" if more else " computes"
    return Finding(
        rule="double-precision",
        severity=Severity.INFO,
        confidence=0.85,
        title=f"{path}{several} in float64: {profile.told(cost)}",
        module=path,
        **line_of(shown(_place(profile, path))),
        evidence=profile.evidence(cost, min_share) | {"modules": len(modules)},
        why="Twice the memory and at most half the speed, for digits that the noise of training covers.",
        fix=f"{_around(modules)}.float()  # and x.float() for what it is given",
    )


def _around(modules: list[ModuleCost]) -> str:
    """Return the innermost module that holds all of these, as code has it: parts known by number with an index."""
    paths = [path_of(each).split(".") for each in modules]
    common = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return as_code(".".join(names[0] for names in common))


def _place(profile: Profile, path: str) -> Place | None:
    """Return the line that calls a module: the one of its dearest operator that has one."""
    here = [each for each in profile.costs.operators if each.module == path and each.place is not None]
    return max(here, key=lambda each: each.own).place if here else None
