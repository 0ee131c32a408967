"""The examples of the "PyTorch Debugging Guide" that log a training: the loop is awaited and never blocked."""

import asyncio
import json
import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import torchmagic


@pytest.fixture
def with_gradients():
    """Make a model with gradients, of which some are not numbers where that is asked for."""

    def make(value):
        model = nn.Linear(3, 2)
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, value)
        return model

    return make


def written(logger, level):
    """Return the messages of a level in the log's file."""
    lines = map(json.loads, logger.path.read_text(encoding="ascii").splitlines())
    return [line["message"] for line in lines if line["level"] == level]


def test_a_loss_and_gradients_that_are_not_numbers_are_warned_of(examples, with_gradients):
    async def main():
        given = {"loss_tensor": torch.tensor(math.nan), "model": with_gradients(math.nan)}
        left = await examples.arun("guide/06", **given)
        left["logger"].close()
        return left

    left = asyncio.run(main())
    assert left["tensor_info"]["has_nan"] is True
    assert left["gradient_info"]["params_with_nan_grad"] == 2
    said = written(left["logger"], "WARNING")
    assert any("Loss tensor contains NaN values" in line for line in said)
    assert any("Model has parameters with NaN gradients" in line for line in said)


def test_sound_tensors_are_not_warned_of(examples, with_gradients):
    async def main():
        left = await examples.arun("guide/06", loss_tensor=torch.tensor(0.5), model=with_gradients(1.0))
        left["logger"].close()
        return left

    left = asyncio.run(main())
    assert left["tensor_info"]["has_nan"] is False
    assert left["gradient_info"]["params_with_nan_grad"] == 0
    assert not any("NaN" in line for line in written(left["logger"], "WARNING"))


class Answering(nn.Module):
    """A model that computes its loss, as those of the guide's loop do."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, batch):
        return SimpleNamespace(loss=self.layer(batch).square().mean())


@pytest.fixture
def loop(examples):
    """Run the guide's loop over batches; return the model, its losses before and after, and what the log says."""
    loggers = []

    def errors():
        return written(loggers[-1], "ERROR")

    def run(batches, *, epochs=5):
        torch.manual_seed(0)
        model = Answering()
        probe = torch.randn(64, 4)

        async def main():
            logger = torchmagic.AsyncTrainingLogger(user_id=123, model_name="answering")
            loggers.append(logger)
            logger.start_training(total_epochs=epochs, total_steps=epochs * len(batches))
            train = examples.run("guide/07", num_epochs=epochs)["debug_training_loop"]
            try:
                await train(model, batches, torch.optim.SGD(model.parameters(), lr=0.1), logger)
            finally:
                logger.close()

        before = model(probe).loss.item()
        asyncio.run(main())
        return model, before, model(probe).loss.item()

    run.errors = errors
    return run


def test_the_loop_learns(loop):
    _, before, after = loop([torch.randn(16, 4), torch.randn(16, 4)])
    assert after < before / 2


def test_a_batch_that_is_not_a_number_is_logged_and_left_out(loop):
    model, before, after = loop([torch.randn(16, 4), torch.full((16, 4), math.nan), torch.randn(16, 4)])
    assert after < before / 2
    assert all(torch.isfinite(each).all() for each in model.parameters())
    assert len([line for line in loop.errors() if "Loss contains NaN/Inf values" in line]) == 5


def test_an_error_of_the_loop_is_logged_and_reaches_the_user(loop):
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        loop([torch.randn(16, 4), torch.randn(16, 3)])
    assert any("mat1 and mat2" in line for line in loop.errors())


def test_tensors_are_looked_at_without_blocking_the_loop(examples, with_gradients):
    async def main():
        logger = examples.run("guide/18")["logger"]
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.ensure_future(tick())
        await examples.arun("guide/19", logger=logger, loss=torch.tensor(1.0), model=with_gradients(1.0))
        ticking.cancel()
        logger.close()
        return ticks

    assert asyncio.run(main()) > 0


def test_tensor_and_gradient_checks_give_the_numbers_of_the_tensors(with_gradients):
    async def main():
        logger = torchmagic.AsyncTrainingLogger(user_id=1, model_name="numbers")
        tensor = await logger.check_tensor_anomalies_async(torch.tensor([1.0, math.inf]), "values")
        gradients = await logger.check_gradient_anomalies_async(with_gradients(math.inf))
        logger.close()
        return tensor, gradients

    tensor, gradients = asyncio.run(main())
    assert (tensor["has_nan"], tensor["has_inf"]) == (False, True)
    assert gradients["params_with_nan_grad"] == 0
