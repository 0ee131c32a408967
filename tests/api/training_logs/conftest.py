"""This file is what the tests of training logs share: options that keep to a folder, and the lines of a file."""

import json

import pytest


@pytest.fixture
def quietly(tmp_path):
    """Options by which nothing is shown, and all files lie in the test's folder."""
    return {"log_dir": tmp_path / "logs", "terminal_level": None}


@pytest.fixture
def lines():
    """Return the objects in a logger's file, or in any file."""

    def read(logger, *events):
        if hasattr(logger, "flush"):
            logger.flush()
        path = getattr(logger, "path", logger)
        found = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
        return [each for each in found if not events or each["event"] in events]

    return read
