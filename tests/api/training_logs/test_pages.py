"""The pages about the logs say what the code does: their examples run, and they tell every argument and member."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from torchmagic import AsyncTrainingLogger, LogLevel, TrainingLoggingManager, TrainingPhase, create_training_logger
from torchmagic.api.training_logs.channel import LogOptions
from torchmagic.api.training_logs.create_training_logger import OPTIONS

FOLDER = Path(__file__).parents[3] / "docs" / "api"
PAGES = {
    "async-training-logger": AsyncTrainingLogger,
    "create-training-logger": create_training_logger,
    "training-logging-manager": TrainingLoggingManager,
    "training-logs": TrainingLoggingManager,
}


def text(name):
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page, tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", text(page), flags=re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" in done.stderr or page != "training-logs"
    assert {each.name for each in tmp_path.iterdir()} <= {".torchmagic", "logs"}


@pytest.mark.parametrize("page", ["async-training-logger", "training-logging-manager"])
def test_every_public_name_is_told(page):
    for name in dir(PAGES[page]):
        if not name.startswith("_"):
            assert f"`{name}" in text(page) + text("training-logs") or f"await {name}" in text(page), name


def test_every_option_and_member_is_told():
    for name in LogOptions.__annotations__:
        assert f"| `{name}` |" in text("training-logs")
        assert name in text("async-training-logger")
    for name in (*LogLevel.__members__, *TrainingPhase.__members__):
        assert f"`{name}`" in text("training-logs")
    arguments = inspect.signature(AsyncTrainingLogger.__init__).parameters
    for name in set(arguments) - {"self", "options"}:
        assert f"| `{name}` |" in text("async-training-logger")


def test_a_configuration_takes_every_argument():
    arguments = inspect.signature(AsyncTrainingLogger.__init__).parameters
    assert set(OPTIONS) == set(arguments) - {"self", "options"} | set(LogOptions.__annotations__)
