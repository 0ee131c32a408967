"""The pages about the guard say what the code does: their examples run, and they tell every argument."""

import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from torchmagic.guard.anomalies import detect_model_anomalies
from torchmagic.guard.error_kinds import ErrorCategory, ErrorSeverity
from torchmagic.guard.inputs import validate_model_input
from torchmagic.guard.resources import monitor_resources
from torchmagic.guard.training_guard import TrainingGuard

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    DOCS / "guard.md",
    *(
        DOCS / "api" / f"{name}.md"
        for name in (
            "detect-model-anomalies",
            "error-handling-debugging-system",
            "error-tracker",
            "monitor-resources",
            "robust-operations",
            "training-guard",
            "validate-model-input",
        )
    ),
]
TOLD = {
    "training-guard": TrainingGuard.__init__,
    "validate-model-input": validate_model_input,
    "monitor-resources": monitor_resources,
    "detect-model-anomalies": detect_model_anomalies,
}


@cache
def run(page):
    """Run the examples of a page in a process of their own, once for all that is asked of them."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_run(page):
    done = run(page)
    assert done.returncode == 0, done.stderr


def test_the_guide_shows_what_is_really_said():
    said = run(DOCS / "guard.md")
    shown = re.search(r"```text\n(.*?)\n```", (DOCS / "guard.md").read_text(encoding="utf-8"), flags=re.DOTALL)[1]
    assert shown in said.stdout
    assert shown in said.stderr  # Python writes warnings of a log that nobody set up there


@pytest.mark.parametrize("name", TOLD)
def test_every_argument_is_told(name):
    page = (DOCS / "api" / f"{name}.md").read_text(encoding="utf-8")
    for argument in inspect.signature(TOLD[name]).parameters:
        assert argument == "self" or re.search(rf"\b{argument}\b", page), argument


def test_every_severity_and_category_is_told():
    page = (DOCS / "api" / "error-tracker.md").read_text(encoding="utf-8")
    for member in (*ErrorSeverity, *ErrorCategory):
        assert f"`{member.name}`" in page
