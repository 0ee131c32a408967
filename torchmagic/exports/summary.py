"""This file is what trackers list beside the curves: what a run was made with, and what came of it."""

import math
from collections import Counter

from torchmagic.analyses.run_facts import Value, environment_facts, setting_facts, training_facts
from torchmagic.exports.names import encodable
from torchmagic.records.finding import Severity
from torchmagic.session.run import Run

# What the facts say where a setting was left alone.
_UNSET: frozenset[Value] = frozenset({"not set", "none", ""})


def made_with(run: Run) -> dict[str, Value]:
    """Return hyperparameters, the settings of the watch and where it took place, by their names."""
    settings = {f"watch {name}": value for name, value in setting_facts(run).items() if value not in _UNSET}
    told = {"note": run.note, "tags": ", ".join(run.tags)}
    facts = {**training_facts(run), **settings, **environment_facts(run), **{k: v for k, v in told.items() if v}}
    return {encodable(name): encodable(each) if isinstance(each, str) else each for name, each in facts.items()}


def came_of(run: Run) -> dict[str, float]:
    """Return the results in numbers: steps, seconds, torchmagic's own share, findings by severity, last losses."""
    by_severity = Counter(finding.severity for finding in run.findings)
    found = {"steps": float(run.steps), "seconds": run.clock.seconds, "overhead": run.overhead}
    found |= {f"findings/{severity.value}": float(by_severity[severity]) for severity in Severity}
    for name in run.subjects("loss"):
        values = run.series("loss", name=name)[1]
        found |= {f"last_loss/{name}": values[-1]} if values and math.isfinite(values[-1]) else {}
    return found
