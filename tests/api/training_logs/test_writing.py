"""The thread that writes: who logs never waits, nothing grows without bound, and no thread is left behind."""

import gc
import logging
import os
import subprocess
import sys
import threading
import time
import weakref

import pytest

from torchmagic.api.training_logs.entry import ATTRIBUTE, entry
from torchmagic.api.training_logs.writing import MOST_WAITING, Intake, Writing


class Kept(logging.Handler):
    """Keeps what it is given; waits for a gate before each."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.records = []

    def emit(self, record):
        assert self.gate.wait(30)
        self.records.append(record)

    @property
    def messages(self):
        return [record.getMessage() for record in self.records]


def record(message="hello", level=logging.INFO, **fields):
    values = {"name": "torchmagic.training.test", "msg": message, "levelno": level, "levelname": "?"}
    return logging.makeLogRecord({**values, ATTRIBUTE: entry("test", fields=fields)})


def threads():
    return [each for each in threading.enumerate() if each.name == "torchmagic-training-log"]


@pytest.fixture
def kept():
    return Kept()


@pytest.fixture
def writing(kept):
    writing = Writing(kept)
    yield writing
    kept.gate.set()
    writing.stop(30)
    assert not threads()


def test_there_is_a_thread_from_the_first_record_to_the_stop(writing, kept):
    assert not threads()
    writing.take(record("one"))
    assert len(threads()) == 1
    writing.stop()
    assert not threads()
    assert kept.messages == ["one"]
    writing.stop()


def test_a_record_after_the_stop_is_written_as_well(writing, kept):
    for message in ("one", "two", "three"):
        writing.take(record(message))
        writing.stop()
    assert kept.messages == ["one", "two", "three"]


def test_who_logs_does_not_wait_for_a_handler(writing, kept):
    kept.gate.clear()
    began = time.perf_counter()
    for number in range(100):
        writing.take(record(str(number)))
    assert time.perf_counter() - began < 1
    assert kept.messages == []
    kept.gate.set()
    writing.stop()
    assert kept.messages == [str(number) for number in range(100)]


def test_the_stop_waits_for_a_hanging_disk_no_longer_than_it_says(writing, kept):
    kept.gate.clear()
    writing.take(record())
    began = time.perf_counter()
    writing.stop(0.2)
    assert 0.15 < time.perf_counter() - began < 2
    writing.take(record("later"))
    assert len(threads()) == 1, "the old thread goes on, and no second one beside it"
    kept.gate.set()
    writing.stop(30)
    assert kept.messages == ["hello", "later"]


def test_what_waits_is_bounded_and_what_is_lost_is_told(writing, kept):
    kept.gate.clear()
    large = {"values": list(range(1_000))}
    for number in range(1_000):
        writing.take(record(f"info {number}", **large))
    assert writing.num_lost > 600
    taken = 1_000 - writing.num_lost
    assert taken * 1_000 <= MOST_WAITING
    writing.take(record("a warning", logging.WARNING))
    kept.gate.set()
    writing.stop(30)
    assert len(kept.records) == taken + 2
    assert "a warning" in kept.messages
    lost = next(each for each in kept.records if getattr(each, ATTRIBUTE).event == "records_lost")
    assert lost.levelno == logging.WARNING
    assert lost.getMessage().startswith(f"{writing.num_lost:,} records are lost")


def test_after_a_flood_there_is_room_again(writing, kept):
    kept.gate.clear()
    for _ in range(1_000):
        writing.take(record(values=list(range(1_000))))
    kept.gate.set()
    writing.stop(30)
    before = writing.num_lost
    writing.take(record("after"))
    writing.stop(30)
    assert writing.num_lost == before
    assert kept.messages[-1] == "after"


def test_a_handler_gets_records_from_its_level_on(writing, kept):
    kept.setLevel(logging.WARNING)
    writing.take(record("no"))
    writing.take(record("yes", logging.ERROR))
    writing.stop()
    assert kept.messages == ["yes"]


def test_a_handler_that_raises_is_told_of_once_and_others_go_on(kept, capsys):
    class Broken(logging.Handler):
        def handle(self, _record):
            raise ValueError("broken handler")

    writing = Writing(Broken(), kept)
    for message in ("one", "two"):
        writing.take(record(message))
    writing.stop()
    assert kept.messages == ["one", "two"]
    assert capsys.readouterr().err.count("broken handler") == 1


def test_many_threads_log_at_once_and_each_in_its_order(writing, kept):
    def log(name):
        for number in range(200):
            writing.take(record(f"{name} {number}"))

    workers = [threading.Thread(target=log, args=(name,)) for name in "abcdef"]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    writing.stop(30)
    for name in "abcdef":
        assert [m for m in kept.messages if m[0] == name] == [f"{name} {number}" for number in range(200)]


def test_records_that_come_while_it_stops_are_not_lost(writing, kept):
    done = threading.Event()

    def log():
        for number in range(500):
            writing.take(record(str(number)))
        done.set()

    thread = threading.Thread(target=log)
    thread.start()
    while not done.is_set():
        writing.stop(30)
    thread.join()
    writing.stop(30)
    assert kept.messages == [str(number) for number in range(500)]


def test_a_record_that_comes_as_the_thread_ends_does_not_keep_it_alive(kept):
    class Late(Writing):
        def _rest(self):
            if len(kept.messages) == 1:
                self.take(record("late"))
            super()._rest()

    writing = Late(kept)
    writing.take(record("one"))
    writing.stop(5)
    assert kept.messages == ["one", "late"]
    assert not threads()


def test_once_it_has_ended_nothing_is_taken(writing, kept):
    writing.take(record("one"))
    writing.end((kept,))
    writing.take(record("two"))
    assert kept.messages == ["one"]
    assert writing.num_lost == 1


def test_what_a_person_logs_to_the_logger_itself_is_told_without_its_objects(kept, writing):
    class Thing:
        def __str__(self):
            return "a thing"

    logger = logging.Logger("test")  # noqa: LOG001 - one that nobody else can have
    logger.addHandler(Intake(writing))
    thing = Thing()
    gone = weakref.ref(thing)
    kept.gate.clear()
    logger.info("%s came", thing)
    logger.error("it failed", exc_info=ValueError("bad"))
    del thing
    gc.collect()
    assert gone() is None
    kept.gate.set()
    writing.stop()
    assert kept.messages == ["a thing came", "it failed"]
    assert kept.records[1].exc_info is None
    assert "ValueError: bad" in "".join(getattr(kept.records[1], ATTRIBUTE).error.format())


def test_an_exception_that_waits_holds_no_frame_and_so_no_tensor(writing, kept):
    class Large:
        pass

    def fail():
        large = Large()
        gone.append(weakref.ref(large))
        raise ValueError("bad")

    gone = []
    kept.gate.clear()
    try:
        fail()
    except ValueError as error:
        writing.take(logging.makeLogRecord({"msg": "m", "levelno": 40, ATTRIBUTE: entry("error", error=error)}))
    gc.collect()
    assert gone[0]() is None
    kept.gate.set()


EXIT = """
import logging, sys, time
from torchmagic.api.training_logs.training_logging_manager import TrainingLoggingManager
class Slow(logging.Handler):
    def emit(self, record):
        time.sleep(0.003)
manager = TrainingLoggingManager("exit", log_dir=sys.argv[1], terminal_level=None, handlers=[Slow()])
for number in range(300):
    manager.log_batch_metrics({"number": number})
%s
"""


@pytest.mark.parametrize("end", ["", "raise ValueError('the end')", "del manager"])
def test_a_process_that_ends_without_closing_has_written_everything(tmp_path, end):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", EXIT % end, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "ResourceWarning" not in done.stderr
    assert "Exception ignored" not in done.stderr
    (file,) = tmp_path.iterdir()
    assert len(file.read_text().splitlines()) == 300


FORK = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")
from torchmagic.api.training_logs.training_logging_manager import TrainingLoggingManager
manager = TrainingLoggingManager("fork", log_dir=sys.argv[1], terminal_level=None)
stop = threading.Event()
def flood():
    while not stop.is_set():
        manager.log_info("parent", number=1)
thread = threading.Thread(target=flood)
thread.start()
for _ in range(20):
    child = os.fork()
    if not child:
        for number in range(5):
            manager.log_info("child", number=number)
        manager.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
manager.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_processes_log_without_a_deadlock_into_files_of_their_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    files = [file for file in tmp_path.iterdir() if file.suffix == ".jsonl"]
    texts = sorted((file.read_text() for file in files), key=len)
    assert len(texts) == 21
    assert all(text.count('"child"') == 5 for text in texts[:20])
    assert '"child"' not in texts[20]
