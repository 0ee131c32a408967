"""This file is the runs as metrics: what a Prometheus reads when it comes by."""

from collections.abc import Iterable, Sequence

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from torchmagic.server.plain import text
from torchmagic.server.standing import Standing

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LABELS = ("run", "name")


def metrics(standings: Sequence[Standing]) -> bytes:
    """Return how runs stand, in the text format of Prometheus (version 0.0.4)."""
    return generate_latest(_Runs(standings))


class _Runs(Collector):
    """Hands over runs as they stand at one moment."""

    def __init__(self, standings: Sequence[Standing]) -> None:
        self._standings = standings

    def collect(self) -> Iterable[Metric]:
        """Yield each metric with a sample a run."""
        info = GaugeMetricFamily(
            "torchmagic_run_info", "A run, its number and how it stands.", labels=(*_LABELS, "number", "status")
        )
        running = GaugeMetricFamily("torchmagic_run_running", "Whether the run goes on.", labels=_LABELS)
        steps = CounterMetricFamily("torchmagic_run_steps", "Optimizer steps.", labels=_LABELS)
        seconds = GaugeMetricFamily("torchmagic_run_seconds", "Wall time of the run.", labels=_LABELS)
        cost = GaugeMetricFamily("torchmagic_run_cost_seconds", "Seconds of it that torchmagic took.", labels=_LABELS)
        findings = GaugeMetricFamily("torchmagic_run_findings", "Findings.", labels=(*_LABELS, "severity"))
        values = GaugeMetricFamily(
            "torchmagic_run_value", "The newest value of a series.", labels=(*_LABELS, "metric", "subject")
        )
        for each in self._standings:
            labels = text(each.id), text(each.name)
            info.add_metric((*labels, str(each.number), each.status.value), 1)
            running.add_metric(labels, each.goes_on)
            steps.add_metric(labels, each.steps)
            seconds.add_metric(labels, each.seconds)
            cost.add_metric(labels, each.cost)
            for severity, number in each.findings.items():
                findings.add_metric((*labels, severity), number)
            for (metric, subject), value in each.values().items():
                values.add_metric((*labels, metric, text(subject)), value)
        return info, running, steps, seconds, cost, findings, values
