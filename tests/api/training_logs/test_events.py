"""What a training's log can be told, and how it reads in the file and on the terminal."""

import logging
import re

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchmagic import LogLevel, TrainingPhase
from torchmagic.api.training_logs.training_logging_manager import TrainingLoggingManager


@pytest.fixture
def log(quietly):
    with TrainingLoggingManager("events", **quietly) as manager:
        yield manager


def failure():
    try:
        {}["missing"]
    except KeyError as error:
        return error


def test_a_line_says_when_what_and_how_much_it_matters(log, lines):
    log.log_warning("odd", TrainingPhase.VALIDATION, epoch=3)
    (line,) = lines(log)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert line == {
        "level": "WARNING",
        "event": "warning",
        "message": "odd",
        "logger": "torchmagic.training.events",
        "experiment": "events",
        "phase": "validation",
        "fields": {"epoch": 3},
    }


def test_each_way_to_log_has_its_level(log, lines):
    log.log_debug("a")
    log.log_info("b")
    log.log_warning("c")
    log.log_error("d")
    log.log_training_event("e", level=LogLevel.CRITICAL)
    log.log_training_event("f", level="WARNING")
    log.log_training_event("g", level=10)
    assert [(line["level"], line["event"], line["message"]) for line in lines(log)] == [
        ("DEBUG", "debug", "a"),
        ("INFO", "info", "b"),
        ("WARNING", "warning", "c"),
        ("ERROR", "error", "d"),
        ("CRITICAL", "e", "e"),
        ("WARNING", "f", "f"),
        ("DEBUG", "g", "g"),
    ]


def test_the_event_of_the_documents_example(log, lines):
    log.log_training_event(
        "training_step",
        "Training step completed",
        level=LogLevel.INFO,
        gradient_info={"gradient_norm": torch.tensor(float("nan")), "parameter_stats": {"w": np.float32(1)}},
    )
    (line,) = lines(log)
    assert (line["event"], line["message"]) == ("training_step", "Training step completed")
    assert line["fields"] == {"gradient_info": {"gradient_norm": "NaN", "parameter_stats": {"w": 1.0}}}


def test_an_error_comes_with_its_traceback_and_its_context(log, lines):
    log.log_error(failure(), TrainingPhase.TRAINING, {"epoch": 1, "batch": torch.zeros(100)})
    (line,) = lines(log)
    assert line["message"] == "KeyError: 'missing'"
    assert line["error"]["type"] == "KeyError"
    assert line["error"]["message"] == "'missing'"
    assert '{}["missing"]' in line["error"]["traceback"]
    assert line["fields"] == {"epoch": 1, "batch": {"shape": [100], "dtype": "float32", "device": "cpu"}}


def test_an_error_within_another_and_one_without_end_are_told_in_bounds(log, lines):
    def deeper(number):
        return deeper(number + 1)

    try:
        try:
            deeper(0)
        except RecursionError as error:
            raise ValueError("x" * 100_000) from error
    except ValueError as error:
        log.log_error(error)
    (line,) = lines(log)
    assert "direct cause" in line["error"]["traceback"] or len(line["error"]["traceback"]) == 20_000
    assert len(str(line)) < 60_000


def test_an_unknown_level_is_one_line_that_names_the_nearest(log):
    with pytest.raises(ValueError, match=r"level: 'eror' is not one of .*; did you mean 'error'\?"):
        log.log_training_event("x", level="eror")


def test_a_record_points_at_the_users_line(quietly):
    told = []

    class Mine(logging.Handler):
        def emit(self, record):
            told.append((record.filename, record.funcName))

    mine = Mine()
    with TrainingLoggingManager("lines", **quietly, handlers=[mine]) as log:
        log.log_info("a")
        log.log_error(failure())
        log.log_training_event("b")
        log.log_batch_metrics({"loss": 1})
        log.log_epoch_metrics()
    assert told == [("test_events.py", "test_a_record_points_at_the_users_line")] * 5


def test_the_block_that_raises_logs_what_ended_it_once(quietly, lines):
    for tell_by_hand in (True, False):
        with pytest.raises(KeyError), TrainingLoggingManager("block", **quietly) as log:  # noqa: PT012 - it is the block that is tested
            error = failure()
            if tell_by_hand:
                log.log_error(error, TrainingPhase.TRAINING)
            raise error
        assert [line["event"] for line in lines(log.path)] == ["error"]


def test_on_the_terminal_an_event_is_one_line_of_plain_text(quietly, capsys):
    with TrainingLoggingManager("shown", log_dir=quietly["log_dir"]) as log:
        log.log_debug("not shown")
        log.log_info("100% of it\nin two lines", TrainingPhase.TRAINING, epoch=3, loss=torch.tensor(0.123456), big=[1])
        log.log_batch_metrics({"loss": 1})
        log.log_epoch_metrics({"loss": 0.5}, epoch=2)
    said = capsys.readouterr().err.splitlines()
    assert [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in said] == [
        "INFO     100% of it in two lines (training, epoch 3, loss 0.1235)",
        "INFO     epoch 2 (epoch 2, loss 0.5)",
    ]


def test_on_the_terminal_an_error_is_followed_by_its_traceback(quietly, capsys):
    with TrainingLoggingManager("shown", log_dir=quietly["log_dir"], terminal_level="error") as log:
        log.log_warning("not shown")
        log.log_error(failure())
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("ERROR    KeyError: 'missing'")
    assert said[1] == "Traceback (most recent call last):"
    assert said[-1] == "KeyError: 'missing'"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    message=st.text(),
    event=st.text(min_size=1),
    fields=st.dictionaries(st.text(), st.floats() | st.text() | st.integers() | st.none(), max_size=4),
)
def test_any_text_comes_back_from_the_file_as_it_was(log, lines, message, event, fields):
    before = len(lines(log)) if log.path.exists() else 0
    log.log_error(message, event, fields)
    log._tell("info", event, message)
    said, other = lines(log)[before:]
    assert said["message"] == other["message"] == message
    assert other["event"] == event
    assert said["phase"] == event
    assert set(said.get("fields", {})) == set(fields)


def test_an_error_that_cannot_be_asked_for_its_message_is_logged_all_the_same(log, lines):
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("no")

    log.log_error(MuteError())
    (line,) = lines(log)
    assert "MuteError" in line["message"]
    assert line["error"]["type"].endswith("MuteError")


def test_an_error_that_was_logged_and_forgotten_does_not_hide_the_one_that_ends_the_block(quietly, lines):
    manager = TrainingLoggingManager("block", **quietly)
    with pytest.raises(ValueError, match="the last"), manager as log:  # noqa: PT012 - it is the block that is tested
        for number in range(10):
            log.log_error(ValueError(f"error {number}"))  # each is gone at once, and the next one has its place
        raise ValueError("the last")
    assert lines(log.path)[-1]["message"] == "ValueError: the last"
