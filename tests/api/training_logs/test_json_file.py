"""The files of a log: lines of JSON, in turn, and no line is lost for what went wrong with another."""

import json
import logging
import os
import subprocess
import sys

import pytest

from torchmagic.api.training_logs.entry import ATTRIBUTE, entry
from torchmagic.api.training_logs.json_file import JsonFile
from torchmagic.api.training_logs.json_lines import JsonLines


def record(message="hello", **fields):
    values = {"name": "torchmagic.training.test", "msg": message, "levelno": 20, "levelname": "INFO"}
    return logging.makeLogRecord({**values, ATTRIBUTE: entry("test", fields=fields)})


@pytest.fixture
def make(tmp_path):
    made = []

    def make(*, max_bytes=10_000, backups=2, folder="logs"):
        file = JsonFile(tmp_path / folder / "log.jsonl", max_bytes=max_bytes, backups=backups)
        file.setFormatter(JsonLines({"model": "net"}))
        made.append(file)
        return file

    yield make
    for file in made:
        file.close()


def numbers(path):
    return [json.loads(line)["fields"]["number"] for line in path.read_text().splitlines()]


def test_nothing_is_made_before_the_first_line(make):
    file = make()
    assert not file.path.parent.exists()
    file.handle(record())
    assert json.loads(file.path.read_text())["model"] == "net"


def test_a_full_file_is_put_aside_and_the_oldest_is_removed(make):
    file = make(max_bytes=2_000, backups=2)
    for number in range(100):
        file.handle(record(number=number))
    folder = file.path.parent
    assert sorted(each.name for each in folder.iterdir()) == ["log.jsonl", "log.jsonl.1", "log.jsonl.2"]
    assert all(each.stat().st_size <= 2_000 for each in folder.iterdir())
    kept = numbers(folder / "log.jsonl.2") + numbers(folder / "log.jsonl.1") + numbers(folder / "log.jsonl")
    assert kept == list(range(kept[0], 100))
    assert len(kept) > 10


def test_a_line_longer_than_a_file_is_written_whole(make):
    file = make(max_bytes=1_024)
    file.handle(record(number=0))
    file.handle(record("x" * 5_000, number=1))
    file.handle(record(number=2))
    assert numbers(file.path) == [2]
    assert numbers(file.path.with_name("log.jsonl.1")) == [1]


def test_a_disk_that_refuses_is_said_once_and_tried_again(make, tmp_path, capsys):
    (tmp_path / "blocked").write_text("a file where the folder should be")
    file = make(folder="blocked/logs")
    for number in range(3):
        file.handle(record(number=number))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "cannot be written" in said
    assert "Traceback" not in said
    assert file.num_unwritten == 3
    (tmp_path / "blocked").unlink()
    file.handle(record(number=3))
    assert numbers(file.path) == [3]


def test_a_line_that_was_cut_off_does_not_take_the_next_one_with_it(make):
    file = make()
    file.handle(record(number=0))
    file.rest()
    with file.path.open("a") as half:
        half.write('{"time":"20')
    file.handle(record(number=1))
    first, cut, last = file.path.read_text().splitlines()
    assert json.loads(first)["fields"] == {"number": 0}
    assert cut == '{"time":"20'
    assert json.loads(last)["fields"] == {"number": 1}


FULL_DISK = """
import json, logging, resource, sys
from pathlib import Path
from torchmagic.api.training_logs.entry import ATTRIBUTE, entry
from torchmagic.api.training_logs.json_file import JsonFile
from torchmagic.api.training_logs.json_lines import JsonLines
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))
file = JsonFile(Path(sys.argv[1]), max_bytes=10_000, backups=1)
file.setFormatter(JsonLines({}))
for number in range(40):
    told = entry("test", fields={"number": number, "text": "x" * 300})
    file.handle(logging.makeLogRecord({"msg": "m", ATTRIBUTE: told}))
file.close()
print(file.num_unwritten)
"""


def test_a_full_disk_costs_lines_and_nothing_else(tmp_path):
    path = tmp_path / "log.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stdout) > 20
    assert done.stderr.count("cannot be written") == 1
    whole = [line for line in path.read_text().splitlines() if line.endswith("}")]
    assert [json.loads(line)["fields"]["number"] for line in whole] == list(range(len(whole)))
    assert len(whole) >= 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_a_file_of_its_own(make):
    file = make()
    file.handle(record(number=0))
    child = os.fork()
    if not child:
        file.handle(record(number=1))
        os._exit(0)
    os.waitpid(child, 0)
    file.handle(record(number=2))
    assert numbers(file.path) == [0, 2]
    assert numbers(file.path.with_name(f"log-{child}.jsonl")) == [1]
