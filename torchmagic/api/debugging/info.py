"""This file is what a debugger knows of one operation, while it goes on and afterwards."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from torchmagic.api.debugging.meter import Measured, Meter
from torchmagic.api.debugging.modes import DebugLevel, DebugMode
from torchmagic.records.finding import Finding


@dataclass(kw_only=True, slots=True)
class DebugInfo:
    """One operation under a debugger; it holds numbers and text, no tensor and no model.

    While the operation goes on, its times and its memory are those of the moment at which they are read.

    Args:
        timestamp: When it began, with the time zone.
        mode: The debugger's mode.
        level: The debugger's level.
        operation: What it is called.
        model_name: The model's name or class.
        epoch: Number of the epoch, as given.
        batch: Number of the batch, as given.
        gradient_norm: L2 norm of all gradients together, the last one seen; None where none was.
        gradient_anomalies: What is wrong with gradients, one sentence each.
        anomaly_detected: Whether a value or a gradient was not sound, or an exception ended the operation.
        memory_leak_detected: Whether memory grows from operation to operation, or a finding says what keeps it.
        performance_issue_detected: Whether it took far longer than others of its name, or a finding says what is slow.
        findings: What torchmagic's rules say, the most severe first; of an operation inside another one, those that
            were known when it ended.
        run_id: Id of the watched run that it belongs to, as ``torchmagic.session.get`` takes it; empty for none.
        details: Statistics that the configuration's ``log_*`` ask for, by ``gradients``, ``weights``, ``activations``.
        measured: Seconds and memory.
    """

    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC).astimezone())
    mode: DebugMode = DebugMode.NONE
    level: DebugLevel = DebugLevel.BASIC
    operation: str = ""
    model_name: str = "unknown"
    epoch: int = 0
    batch: int = 0
    gradient_norm: float | None = None
    gradient_anomalies: list[str] = field(default_factory=list)
    anomaly_detected: bool = False
    memory_leak_detected: bool = False
    performance_issue_detected: bool = False
    findings: tuple[Finding, ...] = ()
    run_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    measured: Measured | Meter = field(default_factory=Measured, repr=False)

    @property
    def execution_time(self) -> float:
        """Seconds that it took, or has taken so far."""
        return self.measured.seconds

    @property
    def memory_usage(self) -> float:
        """MB (2**20 bytes) by which the process's memory has grown; below zero where it has shrunk."""
        return self.measured.memory

    @property
    def gpu_memory(self) -> float | None:
        """The same of the CUDA device; None where CUDA is not in use."""
        return self.measured.device

    @property
    def is_open(self) -> bool:
        """Whether the operation still goes on."""
        return isinstance(self.measured, Meter)

    def close(self) -> None:
        """Stop measuring; safe to call twice."""
        if isinstance(self.measured, Meter):
            self.measured = self.measured.stop()

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain values that JSON can hold, NaN and infinity aside."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {
            "timestamp": self.timestamp.isoformat(),
            **plain,
            "mode": self.mode.value,
            "level": self.level.value,
            "execution_time": self.execution_time,
            "memory_usage": self.memory_usage,
            "gpu_memory": self.gpu_memory,
            "findings": [asdict(each) for each in self.findings],
            **({"details": dict(self.details)} if self.details else {}),
        }


_PLAIN = (
    "operation",
    "model_name",
    "epoch",
    "batch",
    "gradient_norm",
    "gradient_anomalies",
    "anomaly_detected",
    "memory_leak_detected",
    "performance_issue_detected",
    "run_id",
)
DebugMetrics = DebugInfo  # as the document on debugging and optimisation calls it
