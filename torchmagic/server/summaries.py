"""This file is the summaries of debugging: from what debuggers counted, or, where none is alive, from the runs."""

from torchmagic.analyses.step_anomalies import step_anomalies
from torchmagic.records.finding import Severity
from torchmagic.server.debug_answers import (
    DebuggerSummary,
    DebugSummary,
    Origin,
    TrainingDebuggerSummary,
    TrainingSummary,
)
from torchmagic.server.reading import Reader
from torchmagic.server.served import Counts, Debuggers, TrainingCounts


def debug_summary(debuggers: Debuggers, reader: Reader) -> DebugSummary:
    """Return what all debuggers saw.

    Raises:
        StoreError: If a store is served and cannot be read.
    """
    training, source = _training(debuggers, reader)
    return DebugSummary(
        training_debugger=TrainingDebuggerSummary(
            total_anomalies=training.anomalies,
            debug_history_length=training.remembered,
            source=source,
            total_steps=training.steps,
            anomaly_rate=_rate(training.anomalies, training),
            gradient_explosion_rate=_rate(training.exploding, training),
        ),
        diffusion_debugger=_summary(debuggers.diffusion(), Counts(anomalies=0, remembered=0)),
        general_debugger=_summary(debuggers.general(), _of_runs(reader)),
    )


def training_summary(debuggers: Debuggers, reader: Reader) -> TrainingSummary:
    """Return what went wrong in the training.

    Raises:
        StoreError: If a store is served and cannot be read.
    """
    counts, source = _training(debuggers, reader)
    return TrainingSummary(
        total_steps=counts.steps,
        anomaly_steps=counts.anomalies,
        gradient_explosions=counts.exploding,
        gradient_vanishing=counts.vanishing,
        loss_anomalies=counts.losses,
        anomaly_rate=_rate(counts.anomalies, counts),
        loss_anomaly_rate=_rate(counts.losses, counts),
        gradient_explosion_rate=_rate(counts.exploding, counts),
        gradient_vanishing_rate=_rate(counts.vanishing, counts),
        source=source,
    )


def _training(debuggers: Debuggers, reader: Reader) -> tuple[TrainingCounts, Origin]:
    counted = debuggers.training()
    if counted is not None:
        return counted, "debuggers"
    found = [step_anomalies(run) for run in reader.counted()]
    counts = TrainingCounts(
        steps=sum(each.steps for each in found),
        anomalies=sum(each.anomalous for each in found),
        exploding=sum(each.exploding for each in found),
        vanishing=sum(each.vanishing for each in found),
        losses=sum(each.losses for each in found),
        remembered=sum(each.steps for each in found),
    )
    return counts, "runs"


def _of_runs(reader: Reader) -> Counts:
    """Count findings that are more than worth knowing, and the runs that they are from."""
    runs = reader.counted()
    loud = [finding for run in runs for finding in run.findings if finding.severity is not Severity.INFO]
    return Counts(anomalies=len(loud), remembered=len(runs))


def _summary(counted: Counts | None, otherwise: Counts) -> DebuggerSummary:
    counts, source = (otherwise, "runs") if counted is None else (counted, "debuggers")
    return DebuggerSummary.model_validate(
        {"total_anomalies": counts.anomalies, "debug_history_length": counts.remembered, "source": source}
    )


def _rate(number: int, counts: TrainingCounts) -> float:
    return number / counts.steps if counts.steps else 0.0
