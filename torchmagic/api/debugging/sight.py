"""This file is what a watched run says of one operation: findings, gradients, and the statistics to be written down."""

from typing import Any

from torchmagic.api.debugging.info import DebugInfo
from torchmagic.exports.comprehensive import GRADIENTS, LEAKS, SLOW
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.rules.catalogue import RULES
from torchmagic.session.ends import latest
from torchmagic.session.run import Run

# Rules that say that numbers are not sound.
_NUMERICS = frozenset(rule.id for rule in RULES if rule.group == "numerics")
_ACTIVATION = "activation_"
# Below this confidence a finding is shown folded, and says nothing of an operation.
_SURE = 0.5


class Sight:
    """The part of a run that belongs to one operation.

    Args:
        run: The run, as the operation begins.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._num_records, self._first_step = len(run.records), run.steps

    def tell(self, info: DebugInfo) -> None:
        """Give an operation what its run says of it."""
        run, since = self.run, self._first_step
        info.run_id = run.id
        info.findings = tuple(each for each in run.findings if not since or (each.step or 0) >= since)
        rules = {each.rule for each in info.findings if each.confidence >= _SURE}
        is_broken = any(isinstance(record, NonfiniteRecord) for record in run.records[self._num_records :])
        info.anomaly_detected |= is_broken or bool(rules & _NUMERICS)
        info.memory_leak_detected |= bool(rules & LEAKS)
        info.performance_issue_detected |= bool(rules & SLOW)
        info.gradient_anomalies += [
            each.title for each in info.findings if each.rule in GRADIENTS and each.title not in info.gradient_anomalies
        ]
        if info.gradient_norm is None:
            info.gradient_norm = self._gradient_norm()

    def details(self, *, gradients: bool, weights: bool, activations: bool) -> dict[str, Any]:
        """Return the newest statistics of the run: of each parameter's gradient and values, and of each module."""
        rows = self.run.parameters if gradients or weights else []
        found = {
            "gradients": _columns(rows, "grad_") if gradients else {},
            "weights": _columns(rows, "weight_") if weights else {},
            "activations": self._activations() if activations else {},
        }
        return {name: each for name, each in found.items() if each}

    def _gradient_norm(self) -> float | None:
        steps, norms = self.run.series("grad_norm", name="")
        return norms[-1] if norms and steps[-1] >= self._first_step else None

    def _activations(self) -> dict[str, dict[str, float]]:
        metrics = {frame.metric for frame in self.run.frames if frame.metric.startswith(_ACTIVATION)}
        found: dict[str, dict[str, float]] = {}
        for metric in sorted(metrics):
            for module, value in latest(self.run, metric).items():
                found.setdefault(module, {})[metric.removeprefix(_ACTIVATION)] = value
        return found


def _columns(rows: list[dict[str, Any]], prefix: str) -> dict[str, dict[str, float]]:
    """Return of each parameter what begins with a prefix and is known."""
    found = {
        row["name"]: {
            name.removeprefix(prefix): value
            for name, value in row.items()
            if name.startswith(prefix) and value is not None
        }
        for row in rows
    }
    return {name: values for name, values in found.items() if values}
