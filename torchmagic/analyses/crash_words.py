"""This file puts the scene of a crash into words: its tensors, its module, and what torch says."""

import itertools
from collections.abc import Iterable
from math import prod

from torchmagic.records.crash import CrashKind, CrashSiteRecord, TensorFact
from torchmagic.session.run import Run

MOST_TENSORS, MOST_WEIGHTS, LONGEST_MESSAGE = 8, 2, 120


def site_of(run: Run, kind: CrashKind) -> CrashSiteRecord | None:
    """Return the scene of a crash of this kind; None where the run ended otherwise."""
    return next((site for site in run.of(CrashSiteRecord) if site.problem is kind), None)


def shape_of(fact: TensorFact) -> str:
    """Return a tensor's shape as Python writes it: ``(64, 256)``."""
    return str(tuple(fact.shape))


def described(fact: TensorFact) -> str:
    """Return a tensor's shape, dtype and device: ``(64, 256) float32 cpu``."""
    return f"{shape_of(fact)} {fact.dtype} {fact.device}"


def num_elements(fact: TensorFact) -> int:
    """Return how many elements a tensor has."""
    return prod(fact.shape)


def tensors_of(site: CrashSiteRecord) -> list[TensorFact]:
    """Return the tensors at the scene by name, each once: those on the line, then those that torch was given."""
    module = site.module or site.class_name
    weights = [_called(fact, f"{module}.{fact.name}") for fact in _telling(site)]
    given = [
        _called(fact, f"{module}({fact.name})") if fact.name not in _names(site.tensors) else fact
        for fact in site.given
    ]
    operands = [
        fact for fact in site.operands if not any(_same(fact, each) for each in (*site.tensors, *given, *weights))
    ]
    found: dict[str, TensorFact] = {}
    for fact in (*site.tensors, *given, *weights, *operands):
        found.setdefault(fact.name, fact)
    return list(found.values())[:MOST_TENSORS]


def subject(site: CrashSiteRecord) -> str:
    """Return what failed: a module with its class, or the expression."""
    if site.module is not None and site.is_torchs:
        return f"{site.module} ({site.class_name})" if site.module != site.class_name else site.class_name
    return site.expression or (site.place.source if site.place is not None else site.operation)


def evidence(site: CrashSiteRecord) -> dict[str, float | str]:
    """Return the tensors at the scene, what the module was built with, and what torch says."""
    found: dict[str, float | str] = {fact.name: described(fact) for fact in tensors_of(site)}
    if site.settings:
        found["built with"] = ", ".join(f"{name}={value}" for name, value in site.settings.items())
    if site.built is not None:
        found["built at"] = f"line {site.built.line}: {site.built.source}"
    if site.called is not None and site.called != site.place:
        found["called from"] = f"line {site.called.line}: {site.called.source}"
    if site.noticed is not None:
        found["noticed at"] = f"line {site.noticed.line}: {site.noticed.source}"
    return {**found, "torch says": short(site.message)}


def short(message: str) -> str:
    """Return the first line of what torch says, cut between words where it is long."""
    line = message.strip().split("\n")[-1 if "Caught " in message[:8] else 0].strip()
    if len(line) <= LONGEST_MESSAGE:
        return line
    cut = line[:LONGEST_MESSAGE]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,.:;") + " …"


def attribute(path: str) -> str:
    """Return how code calls the module at a path: ``self.fc``, ``model[3]``, ``self.layers[0]``, or its variable."""
    parts = path.split(".")
    numbers = list(itertools.takewhile(str.isdigit, reversed(parts)))
    *above, name = parts[: len(parts) - len(numbers)] or [""]
    return f"{'self.' if above else ''}{name}{''.join(f'[{each}]' for each in reversed(numbers))}"


def _telling(site: CrashSiteRecord) -> list[TensorFact]:
    """Return the parameters that say what a module expects; where any may lie elsewhere, all."""
    if site.problem is CrashKind.DEVICE:
        return list(site.weights)
    return [fact for fact in site.weights if "weight" in fact.name][:MOST_WEIGHTS]


def _called(fact: TensorFact, name: str) -> TensorFact:
    return TensorFact(name=name, shape=fact.shape, dtype=fact.dtype, device=fact.device, made_by=fact.made_by)


def _names(facts: Iterable[TensorFact]) -> set[str]:
    return {fact.name for fact in facts}


def _same(one: TensorFact, other: TensorFact) -> bool:
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
