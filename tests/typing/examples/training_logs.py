"""A training that is logged, with and without an event loop."""

from pathlib import Path
from typing import Any, assert_type

import torch
from torch import nn

from torchmagic import AsyncTrainingLogger, DebugConfig, LogLevel, TrainingLoggingManager, TrainingPhase
from torchmagic import create_training_logger as create


def logged(folder: Path) -> dict[str, Any]:
    with TrainingLoggingManager("types", log_dir=folder, terminal_level=None) as manager:
        manager.log_batch_metrics({"loss": 1.0, "norm": torch.tensor(2.0)}, epoch=0, batch=1)
        manager.log_training_event("checkpoint", "weights written", level=LogLevel.INFO, path=str(folder))
        manager.log_warning("the loss rises", TrainingPhase.TRAINING)
        assert_type(manager.latest, dict[str, float])
        assert_type(manager.path, Path)
        return manager.log_epoch_metrics()


async def awaited(model: nn.Module, loss: torch.Tensor) -> bool:
    logger = AsyncTrainingLogger(user_id=123, model_name="types", enable_autograd_debug=True)
    logger.start_training(total_epochs=1, total_steps=1)
    tensor = await logger.check_tensor_anomalies_async(loss, "loss")
    assert_type(tensor, dict[str, Any])
    gradients = await logger.check_gradient_anomalies_async(model)
    assert_type(gradients, dict[str, Any])
    await logger.update_progress_async(epoch=0, step=0, loss=loss.item(), learning_rate=0.1)
    logger.log_error(ValueError("odd"), TrainingPhase.TRAINING, {"step": 0})
    await logger.stop_async()
    return bool(tensor["has_nan"])


def made() -> None:
    create(DebugConfig()).log_training_event("begin")
