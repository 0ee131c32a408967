"""The 'Custom Training Loop with Debugging' of the document on debugging, with a loss that becomes NaN."""

import asyncio
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from torchmagic import AsyncTrainingLogger, TrainingPhase

num_epochs = 2


class Model(nn.Module):
    """A model that, as those of transformers, returns its loss."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)

    def forward(self, batch):
        return SimpleNamespace(loss=self.net(batch).pow(2).mean())


async def debug_training_loop(model, dataloader, optimizer, logger):
    """Training loop with comprehensive debugging."""

    for epoch in range(num_epochs):
        for step, batch in enumerate(dataloader):
            try:
                # Forward pass
                outputs = model(batch)
                loss = outputs.loss

                # Check loss tensor
                loss_info = await logger.check_tensor_anomalies_async(loss, "loss")
                if loss_info["has_nan"] or loss_info["has_inf"]:
                    logger.log_error(
                        ValueError("Loss contains NaN/Inf values"),
                        TrainingPhase.TRAINING,
                        {"epoch": epoch, "step": step, "loss_info": loss_info},
                    )
                    continue

                # Backward pass
                loss.backward()

                # Check gradients
                gradient_info = await logger.check_gradient_anomalies_async(model)
                if gradient_info["params_with_nan_grad"] > 0:
                    logger.log_warning(f"Gradient anomalies detected at step {step}", TrainingPhase.TRAINING)

                # Update progress
                await logger.update_progress_async(
                    epoch=epoch, step=step, loss=loss.item(), learning_rate=optimizer.param_groups[0]["lr"]
                )

                optimizer.step()
                optimizer.zero_grad()

            except Exception as e:
                logger.log_error(e, TrainingPhase.TRAINING, {"epoch": epoch, "step": step})
                raise


@pytest.fixture
def batches():
    torch.manual_seed(0)
    return [torch.randn(8, 4) for _ in range(5)]


@pytest.fixture
def logger(quietly):
    settings = {"save": False, "level": "basic", "every": 1}
    with AsyncTrainingLogger(
        user_id=123,
        model_name="microsoft/DialoGPT-medium",
        enable_autograd_debug=True,
        progress=False,
        debug_settings=settings,
        **quietly,
    ) as logger:
        yield logger


def train(batches, logger, model=None):
    model = model or Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    logger.start_training(total_epochs=num_epochs, total_steps=num_epochs * len(batches))
    asyncio.run(debug_training_loop(model, batches, optimizer, logger))
    logger.end_training()
    return model


def test_a_batch_with_nan_is_told_of_and_skipped(batches, logger, lines):
    batches[3][0, 0] = float("nan")
    model = train(batches, logger)
    assert all(torch.isfinite(each).all() for each in model.parameters())
    errors = lines(logger, "error")
    assert [line["fields"]["step"] for line in errors] == [3, 3]
    assert {line["message"] for line in errors} == {"ValueError: Loss contains NaN/Inf values"}
    assert errors[0]["phase"] == "training"
    assert errors[0]["fields"]["loss_info"]["num_nan"] == 1
    checks = lines(logger, "tensor_check")
    assert [line["fields"]["has_nan"] for line in checks] == [step == 3 for step in range(5)] * 2
    assert [line["fields"]["step"] for line in lines(logger, "progress")] == [0, 1, 2, 4] * 2
    assert logger.run.steps == 8
    summary = logger.summary()
    assert (summary["tensor_anomalies"], summary["gradient_anomalies"], summary["errors"]) == (2, 0, 2)


def test_a_gradient_with_nan_is_warned_of(batches, logger, lines):
    model = Model()
    handle = model.net.bias.register_hook(lambda gradient: gradient * float("nan"))
    train(batches[:1], logger, model)
    handle.remove()
    assert lines(logger, "warning")[0]["message"] == "Gradient anomalies detected at step 0"
    assert lines(logger, "gradient_check")[0]["fields"]["nan_params"] == ["net.bias"]
    assert "nonfinite-gradient" in [each.rule for each in logger.findings]


def test_an_exception_of_the_loop_is_logged_once_and_comes_through(batches, logger, lines):
    batches[2] = torch.zeros(8, 3)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        train(batches, logger)
    logger.close()
    (line,) = lines(logger.path, "error")
    assert line["fields"] == {"epoch": 0, "step": 2}
    assert line["error"]["type"] == "RuntimeError"
    assert "model(batch)" in line["error"]["traceback"]


def test_the_checks_of_the_basic_example(logger, lines):
    """Start, check a tensor, check gradients: the example above the loop in the document."""

    async def example():
        logger.start_training(total_epochs=10, total_steps=1000)
        loss_tensor = torch.tensor(float("nan"), requires_grad=True)
        model = nn.Linear(2, 1)
        (model(torch.ones(1, 2)) * loss_tensor).sum().backward()
        tensor_info = await logger.check_tensor_anomalies_async(loss_tensor, "loss")
        if tensor_info["has_nan"]:
            logger.log_warning("Loss tensor contains NaN values")
        gradient_info = await logger.check_gradient_anomalies_async(model)
        if gradient_info["params_with_nan_grad"] > 0:
            logger.log_warning("Model has parameters with NaN gradients")
        return gradient_info

    found = asyncio.run(example())
    assert found["params_with_nan_grad"] == 2
    assert [line["message"] for line in lines(logger, "warning")] == [
        "Loss tensor contains NaN values",
        "Model has parameters with NaN gradients",
    ]
