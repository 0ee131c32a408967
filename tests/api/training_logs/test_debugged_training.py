"""With enable_autograd_debug a training is a watched run: it finds what is wrong, and is closed however it ends."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
from types import CodeType

import pytest
import torch
from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.data import DataLoader

import torchmagic
from torchmagic import AsyncTrainingLogger
from torchmagic.debuggers import open_watches
from torchmagic.probes.hooked import load_compiler
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.note import FailureRecord
from torchmagic.rules.failing import FindingsError
from torchmagic.session.status import Status

PATCHED = (nn.Module, torch.Tensor, torch.nn.functional, torch.optim.Optimizer, DataLoader, torch, torch.autograd)


def ours():
    """Return what stands in torch that is torchmagic's: wrappers, hooks, watches."""
    codes = {
        (owner.__name__, name): getattr(value, "__code__", None)
        for owner in PATCHED
        for name, value in vars(owner).items()
    }
    names = {name for name, code in codes.items() if isinstance(code, CodeType) and "torchmagic" in code.co_filename}
    hooks = [*optimizers._global_optimizer_pre_hooks, *optimizers._global_optimizer_post_hooks]
    return names | set(hooks) | set(open_watches.WATCHING)


@pytest.fixture(autouse=True)
def nothing_is_left():
    load_compiler()
    before = ours(), set(threading.enumerate())
    yield
    gc.collect()
    until = time.monotonic() + 60
    while set(threading.enumerate()) != before[1] and time.monotonic() < until:
        time.sleep(0.01)  # a thread that was told to end writes what waits first
    assert (ours(), set(threading.enumerate())) == before


@pytest.fixture
def make(quietly):
    def make(debug_settings=None, **options):
        settings = {"save": False, "level": "basic", "every": 1, **(debug_settings or {})}
        return AsyncTrainingLogger(
            model_name="net", enable_autograd_debug=True, progress=False, debug_settings=settings, **quietly, **options
        )

    return make


def sick(steps=12):
    """Train without ever clearing the gradients."""
    torch.manual_seed(0)
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        net(torch.randn(8, 4)).pow(2).mean().backward()
        opt.step()
    return [each.detach().clone() for each in net.parameters()]


def train_and_close(logger, error=None):
    """Train within the block of a logger, which an exception may end."""
    with logger:
        logger.start_training()
        sick()
        if error is not None:
            raise error


def test_the_run_is_in_the_session_and_its_findings_are_in_the_log(make, lines):
    with make() as logger:
        logger.start_training(total_steps=12)
        assert ours()
        sick()
        logger.stop()
        assert "missing-zero-grad" in [each.rule for each in logger.findings]
        assert logger.run in torchmagic.session.runs
        assert (logger.run.name, logger.run.steps, logger.run.status) == ("net", 12, Status.OK)
        assert logger.summary()["findings"] == len(logger.findings)
    told = {line["fields"]["rule"]: line for line in lines(logger.path, "finding")}
    assert set(told) == {each.rule for each in logger.findings}
    found = next(each for each in logger.findings if each.rule == "missing-zero-grad")
    assert told["missing-zero-grad"]["message"] == found.title
    assert told["missing-zero-grad"]["level"] == found.severity.upper()
    assert lines(logger.path, "training_start")[0]["fields"]["run"] == logger.run.id


def test_findings_that_are_to_fail_it_are_raised_once_all_is_written_and_closed(make, lines):
    logger = make({"fail_on": "missing-zero-grad"})
    logger.start_training()
    sick()
    with pytest.raises(FindingsError, match="missing-zero-grad"):
        logger.stop()
    assert not logger.is_training
    assert not ours()
    logger.stop()  # told once
    with pytest.raises(FindingsError, match="missing-zero-grad"):
        train_and_close(logger)
    assert len(lines(logger.path, "training_end")) == 2
    with pytest.raises(RuntimeError, match="is closed"):
        logger.start_training()


def test_findings_do_not_take_the_place_of_what_ended_the_training(make):
    logger = make({"fail_on": "missing-zero-grad"})
    with pytest.raises(KeyError, match="the user's"):
        train_and_close(logger, KeyError("the user's"))
    assert "missing-zero-grad" in [each.rule for each in logger.findings]


def test_without_it_nothing_is_watched(quietly):
    with AsyncTrainingLogger(progress=False, **quietly) as logger:
        logger.start_training()
        assert not ours()
        assert logger.run is None
        assert logger.findings == ()


def test_weights_are_the_same_bits_with_it_and_without(make):
    plainly = sick()
    with make() as logger:
        logger.start_training()
        logged = sick()
    assert all(map(torch.equal, plainly, logged))


def test_checks_beside_the_watched_run_change_no_bit_and_are_no_fault_of_the_users(make):
    async def train(logger):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
        opt = torch.optim.Adam(net.parameters())
        for step in range(6):
            loss = net(torch.randn(16, 4)).pow(2).mean()
            loss.backward()
            if logger is not None:
                await logger.check_tensor_anomalies_async(loss, "loss")
                await logger.check_gradient_anomalies_async(net)
                await logger.update_progress_async(epoch=0, step=step, loss=loss.detach())
            opt.step()
            opt.zero_grad()
        return list(net.state_dict().values())

    plainly = asyncio.run(train(None))
    with make() as logger:
        logger.start_training()
        logged = asyncio.run(train(logger))
    assert all(map(torch.equal, plainly, logged))
    assert logger.run.steps == 6
    assert "sync-in-loop" not in [each.rule for each in logger.findings]


def test_a_block_that_raises_closes_the_run_with_the_error(make):
    with pytest.raises(RuntimeError, match="shape"), make() as logger:  # noqa: PT012 - it is the block that is tested
        logger.start_training()
        nn.Linear(4, 2)(torch.zeros(1, 3))
    assert logger.run.status is Status.ERROR
    assert logger.run.of(FailureRecord) == []
    assert [each.problem for each in logger.run.of(CrashSiteRecord)] == [CrashKind.SHAPE]
    assert "shape-mismatch" in [each.rule for each in logger.findings]


def test_a_task_that_raises_closes_the_run_though_nobody_stopped_it(make, lines):
    logger = make()

    async def train():
        logger.start_training()
        sick(2)
        raise ZeroDivisionError("oops")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(train())
    assert not logger.is_training
    assert logger.run.status is Status.ERROR
    assert [line["event"] for line in lines(logger) if line["event"] != "finding"] == [
        "training_start",
        "error",
        "training_end",
    ]


def test_a_task_that_is_cancelled_interrupts_the_run(make, lines):
    logger = make()

    async def train():
        logger.start_training()
        await asyncio.sleep(60)

    async def cancel():
        task = asyncio.create_task(train())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert not logger.is_training
    assert logger.run.status is Status.INTERRUPTED
    assert [(line["level"], line["message"]) for line in lines(logger, "error")] == [("WARNING", "CancelledError")]


def test_a_task_that_begins_a_training_for_others_and_ends_well_leaves_it_open(make):
    logger = make()

    async def begin():
        logger.start_training()

    async def train():
        await asyncio.create_task(begin())
        sick(2)
        assert logger.is_training
        await logger.stop_async()

    asyncio.run(train())
    assert logger.run.status is Status.OK
    assert logger.run.steps == 2


def test_asyncio_still_complains_of_an_exception_that_nobody_looked_at(make):
    complaints = []
    logger = make()

    async def train():
        logger.start_training()
        raise ZeroDivisionError("oops")

    async def forget():
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context["message"]))
        task = asyncio.create_task(train())
        await asyncio.sleep(0.01)
        del task
        gc.collect()

    asyncio.run(forget())
    assert not logger.is_training
    assert complaints == ["Task exception was never retrieved"]
    logger.close()


def test_a_logger_that_is_let_go_closes_its_run(make):
    logger = make()
    logger.start_training()
    run = logger.run
    sick(2)
    del logger
    gc.collect()
    assert not ours()
    assert run.status is Status.OK
    assert run.steps == 2


def test_a_logger_that_an_exception_held_is_closed_when_that_is_gone(make):
    def train():
        logger = make()
        logger.start_training()
        raise ZeroDivisionError("oops")

    with pytest.raises(ZeroDivisionError) as error:
        train()
    assert ours()
    del error
    gc.collect()
    assert not ours()


def test_a_second_training_closes_the_run_of_the_first(make):
    with make() as logger:
        logger.start_training()
        first = logger.run
        logger.start_training()
        assert first.status is Status.OK
        assert logger.run is not first


def test_a_wrong_setting_is_told_when_the_logger_is_made(quietly):
    with pytest.raises(ValueError, match="did you mean 'level'"):
        AsyncTrainingLogger(debug_settings={"levl": "basic"}, **quietly)


def test_a_run_that_cannot_be_opened_leaves_nothing(make, monkeypatch):
    logger = make()
    monkeypatch.setattr("torchmagic.debuggers.watching.surroundings", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        logger.start_training()
    assert not logger.is_training
    logger.close()


EXIT = """
import sys, torch
from torch import nn
from torchmagic import AsyncTrainingLogger
logger = AsyncTrainingLogger(model_name="net", enable_autograd_debug=True, log_dir=sys.argv[1], terminal_level=None)
logger.start_training()
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
optimizer.step()
logger.log_info("the last word")
"""


def test_a_process_that_ends_in_the_middle_of_it_ends_well(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", EXIT, str(tmp_path / "logs")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    (file,) = (tmp_path / "logs").iterdir()
    assert "the last word" in file.read_text()


def test_a_report_is_written_where_it_was_asked_for(quietly, tmp_path):
    asked = {"save": False, "report": tmp_path / "run.html"}
    with AsyncTrainingLogger(enable_autograd_debug=True, progress=False, debug_settings=asked, **quietly) as logger:
        logger.start_training()
        sick()
    assert "<html" in (tmp_path / "run.html").read_text(encoding="utf-8")
