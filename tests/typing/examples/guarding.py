"""A service that checks what it is given, runs a model and keeps its errors."""

from typing import Any, assert_type

import torch
from torch import nn

from torchmagic import (
    ErrorCategory,
    ErrorHandlingDebuggingSystem,
    ErrorSeverity,
    ErrorTracker,
    InputSpec,
    RecoveryError,
    RobustOperations,
    Splitting,
    TrainingGuard,
    detect_model_anomalies,
    monitor_resources,
    recovery_strategy,
    validate_model_input,
)


def answer(model: nn.Module, data: torch.Tensor) -> Any:
    assert_type(validate_model_input(data, shape=("batch", 8), maximum=10.0), bool)
    assert_type(detect_model_anomalies(model, data), list[str])
    operations = RobustOperations()
    result = operations.model_inference.safe_inference(model=model, input_data=data, max_retries=2)
    assert_type(result.success, bool)
    assert_type(result.error_message, str)
    return result.data if result.success else None


def failed(error: Exception, system: ErrorHandlingDebuggingSystem) -> bool:
    assert_type(system.error_tracker, ErrorTracker)
    system.error_tracker.track_error(
        error=error, severity=ErrorSeverity.ERROR, category=ErrorCategory.MODEL, context={"operation": "answer"}
    )
    assert_type(system.error_tracker.counts, dict[str, int])
    return recovery_strategy(error, {"operation": "answer"})


def is_well() -> bool:
    report = monitor_resources(gpu_memory=4000.0)
    assert_type(report.cpu_percent, float)
    assert_type(report.gpu_memory, float | None)
    return report.ok


def guarded(model: nn.Module, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> list[float | None]:
    guard = TrainingGuard(model, torch.optim.SGD(model.parameters(), lr=0.1), splitting=Splitting(), max_failures=3)
    losses = []
    try:
        for batch in batches:
            for part in guard.step(batch):
                with part as (inputs, targets):
                    part.backward(nn.functional.mse_loss(model(inputs), targets))
            losses.append(guard.last.loss if guard.last is not None else None)
    except RecoveryError as error:
        raise SystemExit(str(error)) from error
    return losses


def checked(batch: dict[str, torch.Tensor]) -> bool:
    return validate_model_input(batch, spec={"image": InputSpec(shape=("batch", 3, ...), minimum=0.0, maximum=1.0)})


validate_model_input(torch.ones(1), minimum="low")  # type: ignore[arg-type] # a number
ErrorTracker(max_error=3)  # type: ignore[call-arg] # it is called max_errors
