"""The progress bar: where there is one, what it says, and that it never writes in the way of the log."""

import asyncio
import io
import re
import subprocess
import sys
import threading

import pytest
import tqdm as tqdm_package

from torchmagic import AsyncTrainingLogger
from torchmagic.api.training_logs.progress_bar import is_wanted


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Put a terminal in place when it is called; pytest puts its own there between fixture and test."""

    def terminal():
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    return terminal


def train(logger, *, steps=4, epochs=1):
    async def work():
        logger.start_training(total_epochs=epochs, total_steps=steps * epochs)
        for epoch in range(epochs):
            for step in range(steps):
                await logger.update_progress_async(epoch=epoch, step=step, loss=0.5, learning_rate=1e-3)
        await logger.stop_async()

    asyncio.run(work())


def test_it_is_there_on_a_terminal_and_where_it_is_asked_for(terminal, monkeypatch):
    terminal()
    assert is_wanted(None) is True
    assert is_wanted(False) is False
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert is_wanted(None) is False
    assert is_wanted(True) is True
    monkeypatch.setattr(sys, "stderr", None)
    assert is_wanted(None) is False


def test_it_is_there_in_a_notebook(monkeypatch):
    from torchmagic.api.training_logs import progress_bar  # noqa: PLC0415 - the file is what is looked at

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    in_notebook = type("tqdm_notebook", (), {"__module__": "tqdm.notebook"})
    monkeypatch.setattr(progress_bar, "Bar", type("Bar", (in_notebook,), {}))
    assert is_wanted(None) is True


def test_it_ends_at_the_last_step_with_the_newest_numbers(terminal, quietly):
    screen = terminal()
    with AsyncTrainingLogger(model_name="net", **quietly) as logger:
        train(logger, steps=5, epochs=2)
    last = re.split(r"[\r\n]", screen.getvalue().rstrip())[-1]
    assert last.startswith("net: 100%")
    assert "10/10" in last
    assert "epoch 1, loss 0.5, learning rate 0.001" in last


def test_lines_of_the_log_stand_above_it(terminal, quietly):
    screen = terminal()
    with AsyncTrainingLogger(model_name="net", log_dir=quietly["log_dir"]) as logger:
        logger.start_training(total_steps=2)
        logger.log_warning("look here")
        logger.stop()
    rows = [re.sub(r"^.*\r", "", row) for row in screen.getvalue().split("\n")]
    assert any(re.fullmatch(r"\d\d:\d\d:\d\d WARNING  look here", row) for row in rows)


def test_without_a_terminal_there_is_none(quietly, capsys):
    with AsyncTrainingLogger(model_name="net", **quietly) as logger:
        train(logger)
    said = capsys.readouterr()
    assert said.err == said.out == ""


def test_nothing_of_tqdm_is_left(terminal, quietly):
    terminal()
    before = set(threading.enumerate()), len(tqdm_package.tqdm._instances)
    for _ in range(3):
        with AsyncTrainingLogger(model_name="net", **quietly) as logger:
            train(logger)
    assert (set(threading.enumerate()), len(tqdm_package.tqdm._instances)) == before


def test_a_screen_that_is_closed_does_not_end_the_training(terminal, quietly, lines):
    terminal()
    with AsyncTrainingLogger(model_name="net", progress=True, **quietly) as logger:
        logger.start_training(total_steps=3)
        logger._ongoing._bar._bar.fp = Closed()
        asyncio.run(logger.update_progress_async(step=0, loss=1.0))
        assert len(lines(logger, "progress")) == 1


class Closed:
    encoding = "utf-8"

    def write(self, _text):
        raise ValueError("I/O operation on closed file")

    def flush(self):
        raise ValueError("I/O operation on closed file")


IMPORT = "import sys, torchmagic; print(any(name.startswith('tqdm') for name in sys.modules))"


def test_importing_torchmagic_does_not_load_it():
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "False"
