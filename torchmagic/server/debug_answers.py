"""This file is the answers about debugging: the summaries of the endpoints under ``/training-logs/debug``."""

from typing import Literal

from pydantic import Field

from torchmagic.server.answers import Answer
from torchmagic.server.plain import Number

LevelName = Literal["basic", "intermediate", "advanced", "expert", "extreme"]
Origin = Literal["debuggers", "runs"]


class DebuggerSummary(Answer):
    """What the debuggers of one kind saw."""

    total_anomalies: int
    debug_history_length: int = Field(description="Entries that are remembered.")
    source: Origin = Field(description="Told by debuggers that are alive in the process, or by the runs.")


class TrainingDebuggerSummary(DebuggerSummary):
    """What the training debuggers saw."""

    total_steps: int
    anomaly_rate: Number = Field(description="Share of the steps, 0 to 1.")
    gradient_explosion_rate: Number = Field(description="Share of the steps, 0 to 1.")


class DebugSummary(Answer):
    """What all debuggers saw."""

    training_debugger: TrainingDebuggerSummary
    diffusion_debugger: DebuggerSummary
    general_debugger: DebuggerSummary


class TrainingSummary(Answer):
    """What went wrong in the training, in steps and as shares of all steps."""

    total_steps: int
    anomaly_steps: int = Field(description="Steps with an anomaly of any kind.")
    gradient_explosions: int
    gradient_vanishing: int
    loss_anomalies: int
    anomaly_rate: Number
    loss_anomaly_rate: Number
    gradient_explosion_rate: Number
    gradient_vanishing_rate: Number
    source: Origin


class LevelAnswer(Answer):
    """The level that all runs are watched at now."""

    level: LevelName


class ClearAnswer(Answer):
    """What was forgotten."""

    debuggers: int = Field(description="Debuggers whose history was cleared.")
    runs: int = Field(description="Runs that this process has forgotten; the store keeps them.")
