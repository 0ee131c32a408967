"""The event loop goes on while a large tensor is checked and the disk is slow."""

import asyncio
import logging
import time

import pytest
import torch

from torchmagic import AsyncTrainingLogger

BYTES = 200_000_000
# What waits for the disk waits for 0.3 s and more. A busy machine makes gaps as well.
LONGEST_GAP = 0.25
SLOW = 0.3
# A loop that is blocked by a check has a gap as long as the check; else it is a fraction of it.
LONGEST_SHARE = 0.4


class SlowDisk(logging.Handler):
    """A disk that takes its time for every line."""

    def emit(self, _record):
        time.sleep(SLOW)


async def gaps(work):
    """Return the longest time that the loop did not come round while work went on, how long that took, and what of."""
    longest, going = 0.0, True

    async def beat():
        nonlocal longest
        last = time.perf_counter()
        while going:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    pulse = asyncio.create_task(beat())
    await asyncio.sleep(0.01)
    began = time.perf_counter()
    result = await work
    took = time.perf_counter() - began
    going = False
    await pulse
    return longest, took, result


@pytest.fixture
def logger(quietly):
    with AsyncTrainingLogger(model_name="net", progress=False, **quietly, handlers=[SlowDisk()]) as logger:
        yield logger
        logger._channel.writing.stop(30)


def test_the_loop_goes_on_while_a_large_tensor_is_checked_and_the_disk_is_slow(logger):
    tensor = torch.ones(BYTES // 4)
    tensor[::1000] = float("nan")  # each piece gets a second, closer look

    async def work():
        began = time.perf_counter()
        for number in range(8):
            logger.log_info(f"line {number}")
        told = time.perf_counter() - began
        return told, await logger.check_tensor_anomalies_async(tensor, "activations")

    longest, took, (told, found) = asyncio.run(gaps(work()))
    assert found["num_nan"] == 50_000
    assert found["memory_usage"] > 190
    assert told < SLOW, "eight lines on a disk that takes 0.3 s for each"
    assert longest < took * LONGEST_SHARE


def test_the_loop_goes_on_while_the_gradients_of_a_large_model_are_checked(logger):
    model = torch.nn.Linear(5_000, 5_000, bias=False)
    model.weight.grad = torch.ones_like(model.weight)
    longest, took, found = asyncio.run(gaps(logger.check_gradient_anomalies_async(model)))
    assert found["grad_norm"] == pytest.approx(5_000)
    assert longest < took * LONGEST_SHARE


def test_the_loop_goes_on_while_the_training_ends_and_the_disk_is_slow(logger):
    async def work():
        logger.start_training(total_steps=3)
        for step in range(3):
            await logger.update_progress_async(step=step, loss=1.0)
        await logger.stop_async()

    longest, *_ = asyncio.run(gaps(work()))
    assert longest < LONGEST_GAP
    assert not logger.is_training


def test_the_loop_goes_on_where_the_disk_does_not_answer_at_all(tmp_path, monkeypatch):
    def hang(self):
        time.sleep(2 * LONGEST_GAP)
        raise OSError("no answer")

    monkeypatch.setattr("torchmagic.api.training_logs.json_file.JsonFile._open", hang)
    logger = AsyncTrainingLogger(log_dir=tmp_path, terminal_level=None, progress=False)

    async def work():
        for step in range(3):
            await logger.update_progress_async(step=step, loss=1.0)

    longest, *_ = asyncio.run(gaps(work()))
    assert longest < LONGEST_GAP
    logger._channel.close(30)
