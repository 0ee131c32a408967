"""The logger of an asyncio training: what its checks say, where the training stands, and what it leaves behind."""

import asyncio
import gc
import logging
import math
import re
import threading
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic import AsyncTrainingLogger, TrainingPhase
from torchmagic.api.training_logs.checks import FEW_ELEMENTS


@pytest.fixture
def make(quietly):
    made = []

    def make(**options):
        made.append(AsyncTrainingLogger(**{"progress": False, "model_name": "net", **quietly, **options}))
        return made[-1]

    yield make
    for logger in made:
        logger.close()


@pytest.fixture
def logger(make):
    return make()


def check(logger, tensor, name="x"):
    return asyncio.run(logger.check_tensor_anomalies_async(tensor, name))


@pytest.mark.parametrize("size", [4, 10 * FEW_ELEMENTS], ids=["copied", "read in place"])
def test_a_tensor_with_nan_and_infinity_is_told_by_its_numbers(logger, size):
    tensor = torch.full((size,), 2.0)
    tensor[0], tensor[1], tensor[2], tensor[3] = math.nan, math.inf, -math.inf, 0.0
    found = check(logger, tensor, "loss")
    assert found["has_nan"] is True
    assert found["has_inf"] is True
    assert (found["num_nan"], found["num_inf"], found["num_zero"]) == (1, 2, 1)
    assert found["name"] == "loss"
    assert found["shape"] == (size,)
    assert (found["dtype"], found["device"]) == ("float32", "cpu")
    assert found["num_elements"] == size
    assert found["memory_usage"] == size * 4 / 2**20
    assert found["max_value"] == (2.0 if size > 4 else 0.0)
    assert found["changed_during_check"] is False


def test_a_sound_tensor_is_measured(logger):
    found = check(logger, torch.arange(5.0))
    assert (found["has_nan"], found["has_inf"]) == (False, False)
    assert (found["mean_value"], found["min_value"], found["max_value"]) == (2.0, 0.0, 4.0)
    assert found["std_value"] == pytest.approx(torch.arange(5.0).std().item())
    assert found["norm"] == pytest.approx(torch.arange(5.0).norm().item())


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(1.0),
        torch.tensor(True),
        torch.zeros(0),
        torch.tensor([1 + 2j, math.nan]),
        torch.eye(3).to_sparse(),
        torch.zeros(2, dtype=torch.float8_e4m3fn),
        torch.empty(2, device="meta"),
        torch.ones(3, 1).expand(3, FEW_ELEMENTS),
        nn.Parameter(torch.ones(2)),
        np.array([1.0, np.nan]),
        np.float32(1),
    ],
    ids=lambda each: f"{type(each).__name__}-{getattr(each, 'dtype', '')}",
)
def test_a_tensor_of_any_kind_can_be_checked(logger, tensor, lines):
    found = check(logger, tensor)
    assert isinstance(found["has_nan"], bool)
    assert len(lines(logger, "tensor_check")) == 1


def test_what_is_no_tensor_or_no_model_is_one_line(logger):
    with pytest.raises(TypeError, match="a tensor, a parameter or a NumPy array was wanted, str came"):
        check(logger, "loss")
    with pytest.raises(TypeError) as error:
        asyncio.run(logger.check_gradient_anomalies_async("model"))
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="weight has no values before the model's first input"):
        check(logger, nn.LazyLinear(2).weight, "weight")


def test_a_check_leaves_the_tensor_the_random_stream_and_memory_as_they_were(logger):
    for size in (8, 10 * FEW_ELEMENTS):
        tensor = torch.randn(size, requires_grad=True)
        values, version, stream = tensor.detach().clone(), tensor._version, torch.get_rng_state()
        check(logger, tensor)
        assert torch.equal(tensor, values)
        assert tensor._version == version
        assert tensor.grad is None
        assert torch.equal(torch.get_rng_state(), stream)
        gone = weakref.ref(tensor)
        del tensor
        gc.collect()
        assert gone() is None


def test_a_large_tensor_that_is_written_to_under_the_check_is_told_so_and_a_small_one_is_not_touched(logger):
    async def write_meanwhile(tensor):
        task = asyncio.create_task(logger.check_tensor_anomalies_async(tensor))
        await asyncio.sleep(0)  # the check has begun
        tensor.fill_(math.nan)
        return await task

    assert asyncio.run(write_meanwhile(torch.ones(100 * FEW_ELEMENTS)))["changed_during_check"] is True
    small = asyncio.run(write_meanwhile(torch.ones(4)))
    assert small["changed_during_check"] is False
    assert small["has_nan"] is False
    assert small["mean_value"] == 1.0


def model_with_gradients():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(1, 1))
    model[2].requires_grad_(requires_grad=False)
    model[1].bias.grad = torch.zeros(1)
    model[0].weight.grad = torch.tensor([[math.nan, 1.0], [math.inf, 1.0]])
    model[0].bias.grad = torch.tensor([3.0, 4.0])
    return model


def test_gradients_are_counted_by_what_is_wrong_with_them(logger, lines):
    found = asyncio.run(logger.check_gradient_anomalies_async(model_with_gradients()))
    assert math.isnan(found.pop("grad_norm"))
    assert math.isnan(found.pop("max_grad_norm"))
    assert found == {
        "total_params": 4,
        "params_with_grad": 3,
        "params_without_grad": 1,
        "params_with_nan_grad": 1,
        "params_with_inf_grad": 1,
        "params_with_zero_grad": 1,
        "nan_params": ["0.weight"],
        "inf_params": ["0.weight"],
        "max_grad_param": "0.weight",
        "changed_during_check": False,
    }
    (line,) = lines(logger, "gradient_check")
    assert line["level"] == "WARNING"
    assert line["fields"]["grad_norm"] == "NaN"


def test_sound_gradients_give_the_norm_that_clipping_would(logger):
    model = nn.Linear(3, 2)
    model(torch.randn(4, 3)).sum().backward()
    found = asyncio.run(logger.check_gradient_anomalies_async(model))
    wanted = torch.nn.utils.clip_grad_norm_(model.parameters(), math.inf).item()
    assert found["grad_norm"] == pytest.approx(wanted)
    assert found["params_with_nan_grad"] == 0
    assert found["changed_during_check"] is False


def test_a_model_without_gradients_has_a_norm_of_zero(logger):
    found = asyncio.run(logger.check_gradient_anomalies_async(nn.Linear(2, 1)))
    assert (found["params_without_grad"], found["grad_norm"], found["max_grad_norm"]) == (2, 0.0, 0.0)


def test_gradients_that_change_under_the_check_are_told_so(logger):
    model = nn.Linear(2, 1)

    async def clear_meanwhile():
        model(torch.ones(1, 2)).sum().backward()
        task = asyncio.create_task(logger.check_gradient_anomalies_async(model))
        await asyncio.sleep(0)
        model.zero_grad()
        return await task

    assert asyncio.run(clear_meanwhile())["changed_during_check"] is True


def test_progress_is_in_the_file_and_in_the_summary(logger, lines):
    async def train():
        logger.start_training(total_epochs=2, total_steps=6)
        for epoch in range(2):
            for step in range(3):
                loss = torch.tensor([3.0, math.nan, 1.0][step])
                await logger.update_progress_async(
                    epoch=epoch, step=step, loss=loss, learning_rate=0.1, accuracy=torch.tensor(0.5)
                )
        await logger.stop_async()

    asyncio.run(train())
    told = lines(logger, "progress")
    assert [line["fields"]["position"] for line in told] == [1, 2, 3, 4, 5, 6]
    assert told[1]["fields"] == {
        "epoch": 0,
        "step": 1,
        "loss": "NaN",
        "learning_rate": 0.1,
        "accuracy": 0.5,
        "position": 2,
    }
    assert [line["level"] for line in told] == ["DEBUG", "WARNING", "DEBUG"] * 2
    summary = logger.summary()
    assert summary["steps"] == 6
    assert (summary["loss"], summary["best_loss"], summary["nonfinite_losses"]) == (1.0, 1.0, 2)
    assert [lines(logger)[place]["event"] for place in (0, -1)] == ["training_start", "training_end"]
    end = lines(logger)[-1]
    assert end["fields"]["steps"] == 6
    assert re.fullmatch(r"training ends: 6 steps in [\d.]+ \S+, loss 1", end["message"])


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([(0, 0), (0, 1), (1, 0), (1, 1)], [1, 2, 3, 4]),
        ([(0, 0), (0, 1), (1, 2), (1, 3)], [1, 2, 3, 4]),
        ([(0, 0), (0, 9), (1, 9), (1, 19)], [1, 10, 20, 30]),
        ([(None, 0), (None, 1)], [1, 2]),
        ([(None, None), (None, None)], [1, 2]),
    ],
    ids=["in the epoch", "over all", "every tenth", "no epoch", "nothing"],
)
def test_the_position_is_right_however_steps_are_counted(logger, lines, steps, wanted):
    async def train():
        for epoch, step in steps:
            await logger.update_progress_async(epoch=epoch, step=step)

    asyncio.run(train())
    assert [line["fields"]["position"] for line in lines(logger, "progress")] == wanted


def test_checks_warnings_and_errors_are_counted(logger):
    check(logger, torch.tensor(math.nan))
    check(logger, torch.tensor(1.0))
    logger.log_warning("Loss tensor contains NaN values")
    logger.log_error(ValueError("x"), TrainingPhase.TRAINING)
    summary = logger.summary()
    assert (summary["tensor_checks"], summary["tensor_anomalies"]) == (2, 1)
    assert (summary["warnings"], summary["errors"]) == (2, 1)


@pytest.mark.parametrize("name", ["total_epochs", "total_steps"])
@pytest.mark.parametrize("number", [0, -1, 1.5, "10", True])
def test_a_wrong_total_is_one_line_and_begins_nothing(logger, name, number):
    with pytest.raises(ValueError, match=f"{name} must be a whole number from 1 on, or None, .* came"):
        logger.start_training(**{name: number})
    assert not logger.is_training


def test_a_training_can_be_stopped_twice_and_begun_again(logger, lines):
    logger.start_training()
    logger.start_training()
    assert logger.is_training
    logger.end_training()
    logger.stop()
    assert not logger.is_training
    assert [line["event"] for line in lines(logger)] == ["training_start", "training_end"] * 2


def test_a_closed_logger_begins_no_training(logger):
    logger.close()
    with pytest.raises(RuntimeError, match="is closed; make a new logger for another training"):
        logger.start_training()


def test_after_the_stop_there_is_no_thread_and_after_the_close_no_handler(logger):
    logger.start_training()
    logger.stop()
    assert not [each for each in threading.enumerate() if each.name == "torchmagic-training-log"]
    logger.log_info("a late word")
    logger.close()
    assert not [each for each in threading.enumerate() if each.name == "torchmagic-training-log"]
    assert not [each for each in logger.logger.handlers if type(each).__module__.startswith("torchmagic")]


def test_a_name_with_slashes_and_a_user_of_any_kind_are_in_every_line(make, lines, tmp_path):
    logger = make(model_name="microsoft/DialoGPT-medium", user_id=123)
    logger.log_info("hello")
    (line,) = lines(logger)
    assert (line["model"], line["user_id"]) == ("microsoft/DialoGPT-medium", 123)
    assert logger.path.parent == tmp_path / "logs"
    assert logger.path.name.startswith("microsoft-DialoGPT-medium-")


def test_the_block_ends_the_training_and_closes_the_log_also_when_it_raises(make, lines):
    async def train():
        async with make() as logger:
            logger.start_training()
            raise ZeroDivisionError("oops")

    logger = make()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(train())
    with pytest.raises(ZeroDivisionError), logger:  # noqa: PT012 - it is the block that is tested
        logger.start_training()
        raise ZeroDivisionError("oops")
    assert not logger.is_training
    assert [line["event"] for line in lines(logger.path)] == ["training_start", "error", "training_end"]
    assert lines(logger.path, "error")[0]["phase"] == "training"


def test_a_record_points_at_the_users_line(make):
    class Mine(logging.Handler):
        def emit(self, record):
            told.append((record.filename, record.funcName))

    async def work():
        await logger.check_tensor_anomalies_async(torch.ones(2))
        await logger.check_gradient_anomalies_async(nn.Linear(1, 1))
        await logger.update_progress_async(step=1)

    told = []
    logger = make(handlers=[Mine()])
    asyncio.run(work())
    logger.close()
    assert told == [("test_async_training_logger.py", "work")] * 3


def test_several_loggers_in_one_loop_keep_to_their_files(make, lines):
    loggers = [make(model_name=f"net {number}") for number in range(4)]

    async def train(number, logger):
        logger.start_training(total_steps=50)
        for step in range(50):
            await logger.update_progress_async(epoch=0, step=step, loss=number)
        await logger.stop_async()

    async def all_of_them():
        await asyncio.gather(*(train(number, logger) for number, logger in enumerate(loggers)))

    asyncio.run(all_of_them())
    for number, logger in enumerate(loggers):
        told = lines(logger)
        assert {line["model"] for line in told} == {f"net {number}"}
        assert [line["fields"]["step"] for line in told if line["event"] == "progress"] == list(range(50))
        assert logger.summary()["loss"] == number


def test_loops_in_several_threads_share_one_logger(logger, lines):
    async def train():
        for _ in range(50):
            await logger.update_progress_async(loss=1.0)
            await logger.check_tensor_anomalies_async(torch.ones(3))

    workers = [threading.Thread(target=asyncio.run, args=(train(),)) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert logger.summary()["steps"] == 200
    assert logger.summary()["tensor_checks"] == 200
    assert len(lines(logger)) == 400


def test_nothing_of_it_is_in_python_s_logging_when_it_is_gone(quietly):
    def handlers():
        return {id(each()) for each in logging._handlerList if each() is not None}

    gc.collect()
    before = handlers()
    logger = AsyncTrainingLogger(progress=False, **quietly)
    logger.start_training()
    logger.close()
    del logger
    gc.collect()
    assert handlers() <= before
